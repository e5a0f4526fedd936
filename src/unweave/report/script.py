"""Hold the script of a page, which names rows that are pointed at, finds them and keeps them marked in every picture.

Everything is there without it: names on hover, tables, folded parts. Names are set as text, never as markup.
"""

from __future__ import annotations

import base64
import hashlib

from unweave.report.markup import Markup


def content_policy(script: str) -> str:
    """Write the rule that a browser enforces: nothing from elsewhere, and no script but this very one.

    >>> content_policy("")
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    """
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    runs = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; {runs}base-uri 'none'; form-action 'none'"


SCRIPT = Markup(
    r"""
(() => {
'use strict';
const all = (from, what) => [...from.querySelectorAll(what)];
function make(name, kind, text) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
}

const tip = make('div', 'tip');
tip.hidden = true;
document.body.append(tip);
function say(text, x, y) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const wide = document.documentElement.clientWidth, box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 12, wide - box.width - 8)) + 'px';
  tip.style.top = (y > box.height + 20 ? y - box.height - 10 : y + 18) + 'px';
}
const hush = () => say('');

function start(root) {
  const names = new Map(), marks = new Map(), chosen = new Set();
  const finder = root.querySelector('.finder');
  const told = finder && finder.querySelector('.told');
  for (const line of all(root, 'tr[data-row]')) names.set(line.dataset.row, line.firstElementChild.textContent);
  for (const element of all(root, '[data-row]')) {
    const row = element.dataset.row, title = element.querySelector('title');
    if (title) { if (!names.has(row)) names.set(row, title.textContent); title.remove(); }
    if (!names.has(row)) names.set(row, element.textContent);
    if (!marks.has(row)) marks.set(row, []);
    marks.get(row).push(element);
  }
  const heats = all(root, '.heat[data-rows]').map(heat => {
    const levels = atob(heat.dataset.levels), [high, wide] = heat.dataset.size.split(' ').map(Number);
    const [low, top] = heat.dataset.range.split(' ').map(Number), rows = heat.dataset.rows.split(' ');
    const value = (i, j) => {
      const level = levels.charCodeAt(i * wide + j);
      const number = Number((low + level * (top - low) / 254).toPrecision(2));
      return level === 255 ? 'unknown' : number.toLocaleString('en').replace('-', '\u2212');
    };
    return {heat, rows, wide, high, value, grid: heat.parentElement.querySelector('.names')};
  });
  const charts = all(root, 'svg.scatter').map(chart => {
    const points = all(chart, '[data-row]').map(element => {
      const box = element.getBBox();
      return {element, row: element.dataset.row, x: box.x + box.width / 2, y: box.y + box.height / 2};
    });
    return {chart, points, flag: chart.querySelector('.flag')};
  });

  function draw() {
    for (const [row, elements] of marks)
      for (const element of elements) element.classList.toggle('on', chosen.has(row));
    for (const {chart, points, flag} of charts) {
      all(chart, '.flag.on').forEach(old => old.remove());
      chart.classList.toggle('some', points.some(point => chosen.has(point.row)));
      for (const point of points) if (chosen.has(point.row)) {
        point.element.parentElement.append(point.element);
        const copy = flag.cloneNode(), right = point.x > 250;
        copy.classList.add('on');
        copy.textContent = names.get(point.row).slice(0, 34);
        copy.setAttribute('x', point.x + (right ? -8 : 8));
        copy.setAttribute('y', point.y + 4);
        copy.setAttribute('text-anchor', right ? 'end' : 'start');
        chart.append(copy);
      }
    }
    for (const lanes of all(root, '.lanes')) {
      const {first, step, rows} = lanes.dataset, cursor = lanes.querySelector('.cursor');
      all(lanes, '.cursor.on').forEach(old => old.remove());
      for (const row of chosen) if (+row < +rows) {
        const copy = cursor.cloneNode(), x = +first + (+row + .5) * step;
        copy.classList.add('on');
        copy.setAttribute('x1', x);
        copy.setAttribute('x2', x);
        lanes.append(copy);
      }
    }
    for (const {heat, rows, high} of heats) {
      all(heat, '.line').forEach(old => old.remove());
      rows.forEach((row, i) => {
        if (!chosen.has(row)) return;
        const line = make('span', 'line');
        line.style.top = 100 * i / high + '%';
        line.style.height = 100 / high + '%';
        line.title = names.get(row) || '';
        heat.append(line);
      });
    }
    if (!finder) return;
    finder.querySelector('.chosen').replaceChildren(...[...chosen].map(row => {
      const button = make('button', 'chip', names.get(row) + ' ×');
      button.type = 'button';
      button.title = 'take the mark away';
      button.addEventListener('click', () => toggle(row));
      return button;
    }));
  }

  function toggle(row) {
    if (!names.has(row)) return;
    if (!chosen.delete(row)) chosen.add(row);
    if (told) told.textContent = names.get(row) + (chosen.has(row) ? ' is marked' : ' is no longer marked');
    draw();
  }

  for (const {chart, points} of charts) {
    if (!points.length) continue;
    chart.setAttribute('tabindex', '0');
    chart.setAttribute('role', 'application');
    chart.setAttribute('aria-label', chart.getAttribute('aria-label') + '; arrow keys go from row to row, Enter marks');
    let here = null;
    const point_at = event => {
      const box = chart.getBoundingClientRect(), view = chart.viewBox.baseVal;
      const x = (event.clientX - box.left) / box.width * view.width;
      const y = (event.clientY - box.top) / box.height * view.height;
      let best = null, least = 14;
      for (const point of points) {
        const far = Math.hypot(point.x - x, point.y - y);
        if (far < least) { best = point; least = far; }
      }
      return best;
    };
    const go = point => {
      if (here) here.element.classList.remove('here');
      here = point;
      if (!here) return hush();
      here.element.classList.add('here');
      const box = here.element.getBoundingClientRect();
      say(names.get(here.row), box.left + box.width / 2, box.top);
    };
    chart.addEventListener('pointermove', event => go(point_at(event)));
    chart.addEventListener('pointerleave', () => go(null));
    chart.addEventListener('blur', () => go(null));
    chart.addEventListener('click', event => { const point = point_at(event); if (point) toggle(point.row); });
    chart.addEventListener('keydown', event => {
      const way = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
      if (way) {
        const from = here || points[0];
        let best = here ? null : from, least = Infinity;
        if (here) for (const point of points) {
          const along = (point.x - from.x) * way[0] + (point.y - from.y) * way[1];
          const aside = Math.abs((point.x - from.x) * way[1]) + Math.abs((point.y - from.y) * way[0]);
          if (along > 0.01 && along + 2 * aside < least) { best = point; least = along + 2 * aside; }
        }
        if (best) { go(best); if (told) told.textContent = names.get(best.row); }
      } else if ((event.key === 'Enter' || event.key === ' ') && here) toggle(here.row);
      else if (event.key === 'Escape') go(null);
      else return;
      event.preventDefault();
    });
  }

  for (const {heat, rows, wide, high, grid} of heats) {
    const cell = event => {
      const box = heat.getBoundingClientRect();
      const i = Math.floor((event.clientY - box.top) / box.height * high);
      const j = Math.floor((event.clientX - box.left) / box.width * wide);
      return i >= 0 && i < high && j >= 0 && j < wide ? [i, j] : null;
    };
    heat.addEventListener('pointermove', event => {
      const at = cell(event);
      if (!at) return hush();
      const [i, j] = at, name = names.get(rows[i]) || 'row ' + (+rows[i] + 1);
      const column = grid ? grid.children[j].title : 'column ' + (j + 1);
      const values = heats.map(other => other.value(i, j)), unit = heat.dataset.unit;
      say(name + ' · ' + column + ': ' + values[0] + ', by the model ' + values[1] + (unit ? ' (' + unit + ')' : ''),
        event.clientX, event.clientY);
    });
    heat.addEventListener('pointerleave', hush);
    heat.addEventListener('click', event => { const at = cell(event); if (at) toggle(rows[at[0]]); });
  }

  for (const element of all(root, '[data-row]')) {
    if (element.closest('svg')) continue;
    if (element.tagName !== 'TR') { element.tabIndex = 0; element.setAttribute('role', 'button'); }
    element.addEventListener('click', () => toggle(element.dataset.row));
    element.addEventListener('keydown', event => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      toggle(element.dataset.row);
      event.preventDefault();
    });
  }

  if (finder) {
    finder.hidden = false;
    const box = finder.querySelector('input'), hits = finder.querySelector('.hits');
    const plain = text => text.toLowerCase().normalize('NFKD');
    const known = [...names].map(([row, name]) => [row, name, plain(name)]);
    const seek = () => {
      const wanted = plain(box.value.trim());
      const found = wanted ? known.filter(entry => entry[2].includes(wanted)) : [];
      found.sort((a, b) => (b[2] === wanted) - (a[2] === wanted));
      told.textContent = wanted ? found.length + (found.length === 1 ? ' row' : ' rows') : '';
      hits.replaceChildren(...found.slice(0, 8).map(([row, name]) => {
        const button = make('button', '', name);
        button.type = 'button';
        button.addEventListener('click', () => { if (!chosen.has(row)) toggle(row); });
        return button;
      }));
      return found;
    };
    box.addEventListener('input', seek);
    box.addEventListener('keydown', event => {
      if (event.key === 'Escape') { box.value = ''; seek(); }
      if (event.key !== 'Enter') return;
      const [first] = seek();
      if (first && !chosen.has(first[0])) toggle(first[0]);
      event.preventDefault();
    });
  }

  for (const again of all(root, '.again')) {
    const button = again.querySelector('.copy'), pre = again.querySelector('pre');
    button.hidden = false;
    button.addEventListener('click', async () => {
      try { await navigator.clipboard.writeText(pre.textContent); }
      catch { getSelection().selectAllChildren(pre); document.execCommand('copy'); }
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
  }
}

const parts = all(document, 'article');
for (const root of parts.length ? parts : [document.body]) start(root);
addEventListener('beforeprint', () => all(document, 'details.how').forEach(part => { part.open = true; }));
addEventListener('scroll', hush, {passive: true});
})();
"""
)
