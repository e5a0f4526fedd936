"""Draw the page of a topic map: a map, the words of the topic chosen on it, and a table of all topics."""

from __future__ import annotations

import json

from unweave.report.markup import Markup, join, tag
from unweave.report.numbers import percent
from unweave.report.page import document
from unweave.report.panels import note, section
from unweave.report.topic_map import HEIGHT, SHOWN, STEPS, WIDTH
from unweave.report.words import whole

_START = 12  # of 20: λ = 0.6, which readers liked best (Sievert and Shirley 2014)


def render_topic_map(facts: dict) -> str:
    """Draw one self-contained HTML page from :func:`unweave.report.topic_map.map_facts`."""
    topics = facts["topics"]
    first = max(range(len(topics)), key=lambda t: topics[t]["share"])
    title = _title(facts)
    source = f" · {facts['source']}" if facts["source"] else ""
    header = tag("header", tag("p", f"Topic map of {facts['model']}{source}", class_="kicker"), tag("h1", title))
    both = tag("div", _drawn_map(facts, first), _words_panel(), class_="both")
    body = [
        header,
        section("Topics and their words", _help(), both),
        section("All topics", _table_of_topics(facts)),
        _data(facts),
    ]
    return document(title, body, SCRIPT, TOPIC_STYLE)


def _title(facts: dict) -> str:
    k = len(facts["topics"])
    where = f"{whole(facts['documents'])} documents, " if facts["documents"] is not None else ""
    return f"{whole(k)} topic{'s' if k > 1 else ''} of {where}{whole(facts['columns'])} different words"


def _help() -> Markup:
    return tag(
        "p",
        "The area of a circle is the topic's share of all words; topics that use the same words are near each other "
        "(circles that would cover each other's numbers are moved a little). Choose a topic by click or arrow keys; "
        "point at a word to see in which topics it occurs.",
        class_="note help",
    )


def _drawn_map(facts: dict, first: int) -> Markup:
    topics = facts["topics"]
    # Large circles first, so that small ones lie on top and can be reached.
    order = sorted(range(len(topics)), key=lambda t: -topics[t]["r"])
    return tag(
        "svg",
        *(_circle(facts, t, t == first) for t in order),
        id="map",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="group",
        aria_label="Map of topics",
        class_="chart",
        data_first=first,
    )


def _circle(facts: dict, t: int, on: bool) -> Markup:
    topic = facts["topics"][t]
    words = ", ".join(facts["words"][j] for j in topic["top"][:5])
    said = f"Topic {t}, {percent(topic['share'])} of all words: {words}"
    return tag(
        "g",
        tag("circle", cx=topic["x"], cy=topic["y"], r=topic["r"]),
        tag("text", str(t), x=topic["x"], y=topic["y"] + 4.5, text_anchor="middle"),
        tag("title", said),
        class_="topic",
        role="button",
        tabindex=0,
        aria_label=said,
        aria_pressed="true" if on else "false",
        data_topic=t,
    )


def _words_panel() -> Markup:
    """Draw the panel beside the map; the script fills in the topic and its words."""
    slider = tag("input", id="lambda", type="range", min=0, max=STEPS, step=1, value=_START, aria_label="Relevance λ")
    return tag(
        "div",
        tag("h3", tag("span", "Topic", id="which"), tag("small", "", id="share"), aria_live="polite"),
        tag(
            "div",
            tag("button", "‹ previous", id="before", type="button"),
            tag("button", "next ›", id="after", type="button"),
            tag("label", tag("span", "λ"), slider, tag("output", "", id="value", for_="lambda")),
            class_="tools",
        ),
        tag("p", tag("span", "0: in no other topic"), tag("span", "1: the most frequent"), class_="ends"),
        tag("ul", id="words", class_="bars", aria_label=f"The {SHOWN} most relevant words of the topic"),
        tag("p", tag("span", class_="sign"), "in this topic", tag("span", class_="sign pale"), "in all topics; number: "
            "share of the topic", class_="seen"),
    )  # fmt: skip


def _table_of_topics(facts: dict) -> Markup:
    topics = facts["topics"]
    order = sorted(range(len(topics)), key=lambda t: (-topics[t]["share"], t))
    head = tag("tr", *(tag("th", name, scope="col") for name in ("topic", "share", "most frequent words")))
    rows = []
    for t in order:
        words = join((tag("bdi", facts["words"][j]) for j in topics[t]["top"]), ", ")
        rows.append(tag("tr", tag("td", tag("b", str(t))), tag("td", percent(topics[t]["share"])), tag("td", words),
                        data_topic=t))  # fmt: skip
    return tag(
        "div",
        note("The largest first, each with its most frequent words. A click shows the topic above."),
        tag("table", tag("tbody", head, *rows), class_="list"),
        id="table",
    )


def _data(facts: dict) -> Markup:
    """Write the facts for the script: JSON in which no character can end the element or begin another."""
    kept = {name: facts[name] for name in ("words", "overall", "where", "topics")} | {"shown": SHOWN}
    text = json.dumps(kept, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(f'<script type="application/json" id="data">{text}</script>')


TOPIC_STYLE = Markup(
    """
.both{display:grid;grid-template-columns:minmax(0,1.08fr) minmax(0,1fr);gap:28px;align-items:start}
#map{max-width:none;position:sticky;top:12px}
.topic{cursor:pointer;outline:0}.topic circle{fill:var(--one);fill-opacity:.22;stroke:var(--one);stroke-width:1.2;
transition:r .15s}
.topic text{fill:var(--ink);font-weight:600;font-size:13px;pointer-events:none;paint-order:stroke;stroke:var(--card);
stroke-width:3px;stroke-linejoin:round}
.topic:hover circle{fill-opacity:.38}.topic:focus-visible circle{stroke:var(--ink);stroke-width:2.5}
.topic[aria-pressed=true] circle{fill:var(--two);fill-opacity:.6;stroke:var(--two);stroke-width:2.5}
#map.word .topic circle{fill:var(--two);fill-opacity:.45;stroke:var(--two)}
#map.word .topic.none{opacity:.35}#map.word .topic.none circle{fill:none;stroke:var(--soft)}
.tools{display:flex;flex-wrap:wrap;align-items:center;gap:8px 12px;margin:0 0 12px;font-size:.9rem}
.tools button{font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--line);border-radius:8px;
padding:3px 12px;cursor:pointer}.tools button:hover{border-color:var(--soft)}
.tools label{display:flex;align-items:center;gap:8px;flex:1 1 15rem}
.tools input{flex:1;min-width:6rem;accent-color:var(--two)}
.tools output{font-variant-numeric:tabular-nums;min-width:2rem}
.ends{display:flex;justify-content:space-between;color:var(--soft);font-size:.8rem;margin:-8px 0 14px}
.both .bars{gap:2px;min-height:660px;align-content:start}
.both .bars li{grid-template-columns:minmax(0,8.5rem) minmax(40px,1fr) 3.9rem;border-radius:4px;min-height:20px}
.both .name{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.both .bars li:hover,.both .bars li:focus-visible{background:var(--paper)}.both .track{height:14px}
.both .bar.inner{background:var(--two);top:3px;bottom:3px}.both .bar.pale{background:var(--soft);opacity:.32}
.sign{display:inline-block;width:22px;height:8px;border-radius:2px;background:var(--two);margin:0 6px 1px 0}
.sign.pale{background:var(--soft);opacity:.32;height:14px;margin:0 6px -2px 14px}
.list th{width:auto;white-space:nowrap;overflow-wrap:normal}.list td:nth-child(-n+2){white-space:nowrap}
.list tr[data-topic]{cursor:pointer}
.list tr.on td{background:var(--paper)}
@media (max-width:860px){.both{grid-template-columns:minmax(0,1fr)}#map{position:static}.both .bars{min-height:0}}
@media (max-width:560px){.topic text{font-size:15px!important}}
@media print{.tools button,.ends,.help{display:none}.both .bars li{min-height:0}.both .track{height:9px}
.both .bar.inner{top:2px;bottom:2px}.both .bars{font-size:8.5pt;line-height:1.25;min-height:0}}
"""
)

# Words are set as text, never as markup. The order of words is that of the facts: thousandths, ties by number.
SCRIPT = Markup(
    """
(() => {
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const find = id => document.getElementById(id);
const map = find('map'), list = find('words'), slider = find('lambda'), steps = +slider.max;
const marks = new Map([...map.querySelectorAll('.topic')].map(g => [+g.dataset.topic, g]));
const rows = [...document.querySelectorAll('.list tr[data-topic]')];
const p = log => Math.exp(-log / 1000);
const percent = v => (v >= .0995 ? (100 * v).toFixed(0) : (100 * v).toPrecision(2)) + '\\u00a0%';
let topic = +map.dataset.first;

function make(name, kind, text) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
}

function relevant() {
  const {ids, logs, share} = data.topics[topic], weight = 1 - slider.value / steps;
  return ids.map((id, i) => ({
    id, word: data.words[id], within: p(logs[i]), here: share * p(logs[i]), all: p(data.overall[id]),
    relevance: -logs[i] + weight * data.overall[id]
  })).sort((a, b) => b.relevance - a.relevance || a.id - b.id).slice(0, data.shown);
}

function line(entry, most) {
  const item = make('li'), name = make('span', 'name'), track = make('span', 'track');
  name.append(make('bdi', '', entry.word));
  name.title = entry.word;
  for (const [kind, size] of [['bar pale', entry.all], ['bar inner', entry.here]]) {
    const bar = make('span', kind);
    bar.style.setProperty('--w', (100 * Math.min(1, size / most)).toFixed(1) + '%');
    track.append(bar);
  }
  item.append(name, track, make('span', 'value', percent(entry.within)));
  item.title = entry.word + ': ' + percent(entry.within) + ' of this topic, ' + percent(entry.all) + ' of all words';
  item.tabIndex = 0;
  item.dataset.id = entry.id;
  return item;
}

function draw() {
  const shown = relevant(), most = Math.max(...shown.map(e => Math.max(e.all, e.here)));
  list.replaceChildren(...shown.map(e => line(e, most)));
  find('value').textContent = (slider.value / steps).toFixed(2);
  find('which').textContent = 'Topic ' + topic;
  find('share').textContent = percent(data.topics[topic].share) + ' of all words';
  for (const [t, mark] of marks) mark.setAttribute('aria-pressed', String(t === topic));
  for (const row of rows) row.classList.toggle('on', +row.dataset.topic === topic);
}

function choose(t) {
  const n = data.topics.length;
  topic = (t + n) % n;
  plain();
  draw();
}

function plain() {
  map.classList.remove('word');
  for (const [t, mark] of marks) {
    mark.classList.remove('none');
    mark.firstElementChild.setAttribute('r', data.topics[t].r);
  }
}

function spread(id) {
  const pairs = data.where[id], shares = new Map();
  for (let i = 0; i < pairs.length; i += 2) shares.set(pairs[i], pairs[i + 1] / 100);
  map.classList.add('word');
  for (const [t, mark] of marks) {
    mark.classList.toggle('none', !shares.has(t));
    mark.firstElementChild.setAttribute('r', shares.has(t) ? Math.max(3, 70 * Math.sqrt(shares.get(t))) : 3);
  }
}

const word = event => event.target.closest('li[data-id]');
for (const kind of ['mouseover', 'focusin']) list.addEventListener(kind, e => word(e) && spread(word(e).dataset.id));
for (const kind of ['mouseleave', 'focusout']) list.addEventListener(kind, plain);
const chosen = event => event.target.closest('[data-topic]');
map.addEventListener('click', e => chosen(e) !== map && chosen(e) && choose(+chosen(e).dataset.topic));
find('table').addEventListener('click', e => chosen(e) && choose(+chosen(e).dataset.topic));
map.addEventListener('keydown', e => {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
  if (step) { choose(topic + step); marks.get(topic).focus(); }
  else if ((e.key === 'Enter' || e.key === ' ') && chosen(e)) choose(+chosen(e).dataset.topic);
  else return;
  e.preventDefault();
});
slider.addEventListener('input', draw);
find('before').addEventListener('click', () => choose(topic - 1));
find('after').addEventListener('click', () => choose(topic + 1));
draw();
})();
"""
)
