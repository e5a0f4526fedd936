"""Draw the page of a map of words: a map to look around in, a search box, and the nearest words of the one chosen."""

from __future__ import annotations

import json
import os
from pathlib import Path

from unweave.data.atomic import replace_file
from unweave.report.answers.vectors import telling
from unweave.report.markup import Markup, join, plain, tag
from unweave.report.page import document
from unweave.report.panels import note, section
from unweave.report.words import whole

_WIDTH = 720
_WORD = 60
_LISTED, _NEAR = 100, 6  # words in the table, and neighbours of each


def write_word_map(facts: dict, path: str | os.PathLike) -> Path:
    """Write the page of :func:`unweave.embed.layout.map_facts` to one HTML file that needs nothing else."""
    page = render_word_map(facts)
    return replace_file(Path(path), lambda name: Path(name).write_text(page, encoding="utf-8"))


def render_word_map(facts: dict) -> str:
    """Make the page: places are whole numbers from 0 to 1000, neighbours numbers of words or names of others.

    >>> facts = {"symbols": 2, "components": 3, "source": "", "words": ["a", "b"], "x": [0, 1000], "y": [0, 0],
    ...          "near": [[1], [0]], "cosines": [[500], [500]], "counts": None}
    >>> page = render_word_map(facts)
    >>> page[:15], page.count('class="word"')
    ('<!doctype html>', 2)
    """
    words = [plain(word, _WORD) or "(empty)" for word in facts["words"]]
    shown, symbols = len(words), facts["symbols"]
    title = f"{whole(symbols)} words, near each other where they are used alike"
    source = f" · {plain(facts['source'])}" if facts["source"] else ""
    header = tag(
        "header",
        tag("p", f"Map of words{source}", class_="kicker"),
        tag("h1", title),
        tag("p", f"Each is a vector of {whole(facts['components'])} numbers.", class_="lede"),
    )
    which = "All are" if shown == symbols else f"The {whole(shown)} most frequent are"
    help_ = note(
        f"{which} on the map, placed so that words with the same neighbours lie together; how far apart groups are "
        "says little. Click a word, or look for one, to see the words nearest to it among all."
    )
    both = tag("div", tag("div", _tools(), _drawn(facts, words)), _panel(), class_="both")
    body = [
        header,
        section("Words and their neighbours", help_, both),
        section("Frequent words and those near them", _table(facts, words)),
        _data(facts, words),
    ]
    return document(title, body, SCRIPT, WORD_STYLE)


def _tools() -> Markup:
    find = tag("input", id="query", type="search", placeholder="Find a word", aria_label="Find a word",
               autocomplete="off", spellcheck="false")  # fmt: skip
    names = (("closer", "+", "Closer"), ("farther", "−", "Farther"), ("all", "all", "The whole map"))
    buttons = [tag("button", sign, id=name, type="button", aria_label=said) for name, sign, said in names]
    return tag("div", find, *buttons, tag("ul", id="found", aria_label="Words found"), class_="tools")


def _drawn(facts: dict, words: list[str]) -> Markup:
    scale = _WIDTH / 1000
    height = max(240, round(scale * max(facts["y"], default=0)) + 40)
    dots = [
        tag("circle", tag("title", word), cx=round(20 + scale * x * 0.94, 1), cy=round(20 + scale * y * 0.97, 1), r=2.5,
            class_="word", data_word=i)
        for i, (word, x, y) in enumerate(zip(words, facts["x"], facts["y"], strict=True))
    ]  # fmt: skip
    return tag(
        "svg",
        tag("g", id="lines"),
        tag("g", *dots, id="dots"),
        tag("g", id="labels"),
        id="map",
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=f"Map of {whole(len(words))} words",
        class_="chart",
    )


def _panel() -> Markup:
    """Draw the panel beside the map; the script fills it in."""
    return tag(
        "div",
        tag("h3", tag("bdi", "", id="which"), tag("small", "", id="count"), aria_live="polite"),
        tag("p", "The nearest words, and the cosine of the angle between the two vectors.", class_="note"),
        tag("ul", id="near", class_="bars", aria_label="Nearest words"),
        id="panel",
    )


def _table(facts: dict, words: list[str]) -> Markup:
    rows = [tag("tr", *(tag("th", name, scope="col") for name in ("word", "nearest words")))]
    for word, near in ((words[i], facts["near"][i]) for i in _telling(words)[:_LISTED]):
        names = (tag("bdi", words[p] if isinstance(p, int) else plain(p, _WORD)) for p in near[:_NEAR])
        rows.append(tag("tr", tag("td", tag("b", tag("bdi", word))), tag("td", join(names, ", "))))
    return tag("div", tag("table", tag("tbody", *rows), class_="list"))


def _telling(words: list[str]) -> list[int]:
    """Numbers of the words that tell something, stop words and numbers left out."""
    kept = set(telling(words))
    return [i for i, word in enumerate(words) if word in kept]


def _data(facts: dict, words: list[str]) -> Markup:
    """Write the facts for the script: JSON in which no character can end the element or begin another."""
    near = [[p if isinstance(p, int) else plain(p, _WORD) for p in row] for row in facts["near"]]
    kept = {
        "begin": _telling(words)[0],
        "words": words,
        "near": near,
        "cosines": facts["cosines"],
        "counts": facts["counts"],
    }
    text = json.dumps(kept, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(f'<script type="application/json" id="data">{text}</script>')


WORD_STYLE = Markup(
    """
main{max-width:1280px}
.both{display:grid;grid-template-columns:minmax(0,1.9fr) minmax(15rem,1fr);gap:28px;align-items:start;margin-top:12px}
#map{max-width:none;border:1px solid var(--line);border-radius:8px;background:var(--paper);touch-action:manipulation;
overflow:hidden}
#panel{position:sticky;top:12px}
.word{fill:var(--one);fill-opacity:.55;cursor:pointer}.word:hover{fill-opacity:1}
.word.hit{fill:var(--c2);fill-opacity:1}.word.near{fill:var(--c4);fill-opacity:1}
.word.on{fill:var(--two);fill-opacity:1}
#labels text{fill:var(--ink);pointer-events:none;text-anchor:middle;paint-order:stroke;stroke:var(--paper);
stroke-linejoin:round}
#labels text.near{font-weight:600}#labels text.on{font-weight:800}
#lines line{stroke:var(--c4);opacity:.6}
.tools{display:flex;flex-wrap:wrap;align-items:center;gap:8px;margin:0 0 10px}
.tools input{font:inherit;font-size:.95rem;flex:1 1 12rem;min-width:8rem;color:var(--ink);background:var(--paper);
border:1px solid var(--line);border-radius:8px;padding:5px 12px}
.tools button,#near button,#found button{font:inherit;font-size:.9rem;color:var(--ink);background:var(--paper);
border:1px solid var(--line);border-radius:8px;padding:4px 12px;cursor:pointer}
.tools button:hover{border-color:var(--soft)}
#found{list-style:none;display:flex;flex-wrap:wrap;gap:6px;margin:0;padding:0;flex-basis:100%}#found:empty{display:none}
#found button{padding:1px 10px}
#near button{border:0;background:none;padding:0;text-align:left;color:var(--one);overflow-wrap:anywhere}
#near li{grid-template-columns:minmax(0,9rem) minmax(40px,1fr) 2.6rem;min-height:24px}
.list th:first-child{width:36%}
@media (max-width:860px){.both{grid-template-columns:minmax(0,1fr)}#panel{position:static}}
@media print{.tools{display:none}}
"""
)

# Words are set as text, never as markup. Labels are as large on a narrow screen as on a wide one, so fewer find room.
SCRIPT = Markup(
    """
(() => {
'use strict';
const data = JSON.parse(document.getElementById('data').textContent), NS = 'http://www.w3.org/2000/svg';
const find = id => document.getElementById(id);
const map = find('map'), lines = find('lines'), labels = find('labels'), near = find('near'), query = find('query');
const dots = [...map.querySelectorAll('.word')];
const at = dots.map(d => [+d.getAttribute('cx'), +d.getAttribute('cy')]);
const whole = map.getAttribute('viewBox').split(' ').map(Number);
let view = [...whole], word = data.begin, hits = [];

function make(name, kind, text) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
}

// Above its dot, and moved where it would stick out of the map: left, top, right, bottom.
function box(i, size) {
  const half = .31 * size * [...data.words[i]].length, [x, y] = at[i];
  const middle = Math.min(Math.max(x, view[0] + half), Math.max(view[0] + view[2] - half, view[0] + half));
  const low = Math.max(y - .2 * size, view[1] + 1.25 * size);
  return [middle - half, low - 1.15 * size, middle + half, low];
}

function label(i, size, kind, [left, , right, low]) {
  const text = document.createElementNS(NS, 'text');
  text.setAttribute('x', (left + right) / 2);
  text.setAttribute('y', low - .25 * size);
  text.setAttribute('font-size', size);
  text.setAttribute('stroke-width', .25 * size);
  text.style.fontSize = size + 'px';
  text.setAttribute('class', kind);
  text.textContent = data.words[i];
  labels.append(text);
}

function draw() {
  map.setAttribute('viewBox', view.join(' '));
  const unit = view[2] / (map.clientWidth || whole[2]), size = 12 * unit, taken = [];
  const neighbours = data.near[word].filter(p => typeof p === 'number'), close = new Set(neighbours);
  dots.forEach((dot, i) => {
    dot.setAttribute('r', (i === word ? 5 : 2.8) * unit);
    dot.classList.toggle('on', i === word);
    dot.classList.toggle('near', close.has(i));
    dot.classList.toggle('hit', hits.includes(i));
  });
  labels.replaceChildren();
  lines.replaceChildren(...neighbours.map(p => {
    const line = document.createElementNS(NS, 'line');
    [['x1', at[word][0]], ['y1', at[word][1]], ['x2', at[p][0]], ['y2', at[p][1]]].forEach(([k, v]) =>
      line.setAttribute(k, v));
    line.setAttribute('stroke-width', unit);
    return line;
  }));
  const order = [word, ...neighbours, ...hits, ...dots.keys()], seen = new Set();
  for (const i of order) {
    if (seen.has(i)) continue;
    seen.add(i);
    const [x, y] = at[i], mine = box(i, size);
    if (x < view[0] || y < view[1] || x > view[0] + view[2] || y > view[1] + view[3]) continue;
    if (i !== word && taken.some(b => b[0] < mine[2] && mine[0] < b[2] && b[1] < mine[3] && mine[1] < b[3])) continue;
    taken.push(mine);
    label(i, size, i === word ? 'on' : close.has(i) ? 'near' : '', mine);
  }
}

function choose(i, bring) {
  word = i;
  if (bring) centre(view[2], at[i]);
  find('which').textContent = data.words[i];
  find('count').textContent = data.counts ? data.counts[i].toLocaleString('en') + ' times' : '';
  near.replaceChildren(...data.near[i].map((p, k) => {
    const item = make('li'), name = make('span', 'name'), track = make('span', 'track'), bar = make('span', 'bar');
    const known = typeof p === 'number', held = make(known ? 'button' : 'span');
    held.append(make('bdi', '', known ? data.words[p] : p));
    if (known) { held.type = 'button'; held.addEventListener('click', () => choose(p, true)); }
    name.append(held);
    const cosine = data.cosines[i][k] / 1000;
    bar.style.setProperty('--w', (100 * Math.max(0, cosine)).toFixed(1) + '%');
    track.append(bar);
    item.append(name, track, make('span', 'value', cosine.toFixed(2)));
    return item;
  }));
  draw();
}

function centre(width, [x, y]) {
  const w = Math.min(width, whole[2]), h = w * whole[3] / whole[2];
  view = [Math.min(Math.max(x - w / 2, 0), whole[2] - w), Math.min(Math.max(y - h / 2, 0), whole[3] - h), w, h];
}

function zoom(by) {
  centre(Math.max(whole[2] / 16, view[2] * by), at[word]);
  draw();
}

function search() {
  const typed = query.value.trim().toLowerCase();
  const folded = data.words.map(w => w.toLowerCase());
  hits = !typed ? [] : [...dots.keys()].filter(i => folded[i].startsWith(typed));
  if (typed && hits.length < 8) hits.push(...[...dots.keys()].filter(i => folded[i].indexOf(typed) > 0));
  hits.sort((a, b) => (folded[b] === typed) - (folded[a] === typed) || a - b);
  const shown = hits.slice(0, 8).map(i => {
    const item = make('li'), button = make('button', '', data.words[i]);
    button.type = 'button';
    button.addEventListener('click', () => choose(i, true));
    item.append(button);
    return item;
  });
  if (typed && !hits.length) shown.push(make('li', 'note', 'not on the map'));
  find('found').replaceChildren(...shown);
  draw();
}

function nearestDot(event) {
  const box = map.getBoundingClientRect(), unit = view[2] / box.width;
  const x = view[0] + (event.clientX - box.left) * unit, y = view[1] + (event.clientY - box.top) * unit;
  let best = -1, least = (22 * unit) ** 2;
  at.forEach(([u, v], i) => {
    const d = (u - x) ** 2 + (v - y) ** 2;
    if (d < least) [best, least] = [i, d];
  });
  return best;
}

map.addEventListener('click', e => { const i = nearestDot(e); if (i >= 0) choose(i); });
query.addEventListener('input', search);
query.addEventListener('keydown', e => { if (e.key === 'Enter' && hits.length) choose(hits[0], true); });
find('closer').addEventListener('click', () => zoom(.5));
find('farther').addEventListener('click', () => zoom(2));
find('all').addEventListener('click', () => { view = [...whole]; draw(); });
addEventListener('resize', draw);
choose(data.begin);
})();
"""
)
