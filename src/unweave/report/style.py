"""Hold the style sheet of a page: light and dark, wide and narrow, on a screen and on paper."""

from __future__ import annotations

from unweave.report.markup import Markup

# Fills follow Okabe and Ito, whose colours people with any common colour blindness tell apart; text has its own inks.
STYLE = Markup(
    """
:root{--ink:#1b2330;--soft:#505b6b;--paper:#f5f6f8;--card:#fff;--line:#dde2e8;--grid:#e9ecf0;--one:#0072b2;--two:#d55e00;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#e69f00;--c5:#56b4e9;--c6:#4d4d4d;--tint:#cfe3f1;
color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--ink:#e8ebf0;--soft:#aab4c2;--paper:#101317;--card:#191e25;--line:#2d3540;
--grid:#28303a;--one:#56b4e9;--two:#f0935a;--c0:#4aa3df;--c1:#f0824a;--c2:#2cc197;--c3:#dd95bb;--c4:#f0b93c;--c5:#8fd0f5;
--c6:#c4c9d0;--tint:#1f4560}.map{filter:invert(1) hue-rotate(180deg);border-color:#d0cac0!important}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,Ubuntu,
Cantarell,"Noto Sans",sans-serif;overflow-wrap:anywhere}
main{max-width:1080px;margin:0 auto;padding:40px 24px 64px}
header{margin:0 0 32px}
.kicker{margin:0 0 8px;color:var(--soft);font-size:.9rem;letter-spacing:.02em}
h1{margin:0;font-size:clamp(1.45rem,1.05rem + 1.7vw,2.1rem);line-height:1.25;font-weight:650;letter-spacing:-.012em;
text-wrap:balance}
a{color:var(--one)}header ul{margin:14px 0 0;padding-left:20px}main>article{margin-top:56px}
.name-of-part{margin:0 0 4px;font-weight:650;color:var(--soft)}.lede{margin:8px 0 0;color:var(--soft);font-size:1.08rem}
h2{margin:0 0 4px;font-size:1.2rem;line-height:1.3;font-weight:650}
h3{overflow-wrap:break-word;
margin:0 0 10px;font-size:.98rem;line-height:1.35;font-weight:650;display:flex;flex-wrap:wrap;gap:0 8px;
justify-content:space-between;align-items:baseline}
h3 small{font-weight:400;color:var(--soft);font-size:.82rem;white-space:nowrap}
p{margin:0 0 12px}.note{color:var(--soft);font-size:.9rem;max-width:72ch}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:24px;margin:0 0 20px}
.strip{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:16px;margin:24px 0 0;padding:0}
.strip div{display:flex;flex-direction:column-reverse;justify-content:flex-end}
.strip dt{color:var(--soft);font-size:.82rem}.strip dd{margin:0;font-size:1.08rem;font-weight:600;white-space:nowrap}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,290px),1fr));gap:16px;margin-top:16px}
.card{border:1px solid var(--line);border-radius:10px;padding:14px 16px;min-width:0;break-inside:avoid}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(112px,1fr));gap:14px;margin:16px 0 0}
figure{margin:0;min-width:0;break-inside:avoid}
figcaption{font-size:.84rem;color:var(--soft);margin-top:6px}figcaption b{color:var(--ink)}
.pictures img,.pair img{width:100%;display:block;image-rendering:pixelated;border:1px solid var(--line);
border-radius:6px}
.pair img{height:340px}.pair img.photo{height:auto;image-rendering:auto}
.wave{width:100%;height:64px;display:block}.stack{display:grid;gap:16px;margin-top:16px}
.pair.three{grid-template-columns:repeat(auto-fill,minmax(min(100%,230px),1fr))}.three .chart text{font-size:16px}
.pair{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));gap:24px;margin-top:16px;
align-items:start}
.scale{display:flex;flex-wrap:wrap;overflow-wrap:normal;align-items:center;gap:4px 8px;
color:var(--soft);font-size:.82rem;margin-top:12px}
.scale img{width:160px;height:10px;border-radius:3px;display:block}
.swatch{width:14px;height:10px;border-radius:3px;background:#b8b8b8;display:inline-block;margin-left:12px}
.bars{list-style:none;margin:0;padding:0;display:grid;gap:5px;font-size:.88rem}
.bars li{display:grid;grid-template-columns:minmax(0,1.6fr) minmax(40px,1fr) 3.5rem;gap:8px;align-items:center}
.bars.wide li{grid-template-columns:minmax(0,10rem) minmax(40px,1fr) 5.2rem}
.bars.two li{grid-template-columns:minmax(0,2fr) minmax(34px,1fr) minmax(2.4rem,max-content) 2.7rem}
.name{min-width:0;display:block;line-height:1.25;overflow-wrap:anywhere}
.value{text-align:right;color:var(--soft);font-variant-numeric:tabular-nums;font-size:.82rem;white-space:nowrap}
.track{position:relative;height:12px;display:block}
.track.signed{background:linear-gradient(var(--line),var(--line)) 50% 0/1px 100% no-repeat}
.bar{position:absolute;top:0;bottom:0;left:0;width:max(2px,var(--w));background:var(--one);border-radius:2px}
.bar.pale{background:var(--soft);opacity:.55}
.signed .bar{left:50%}.signed .bar.below{left:auto;right:50%;background:var(--two)}
.seen{margin:10px 0 0;font-size:.84rem;color:var(--soft)}
.chart{width:100%;height:auto;display:block;max-width:600px}
.chart text{fill:var(--soft);font-size:12px}.chart .axis{font-size:12.5px}
.chart .mark{fill:var(--ink);font-weight:600;paint-order:stroke;
stroke:var(--card);stroke-width:5px;stroke-linejoin:round}
.chart .centre{fill:var(--ink);font-weight:700;font-size:13px;paint-order:stroke;stroke:var(--card);stroke-width:4px;
stroke-linejoin:round}
.grid{stroke:var(--grid)}.rule{stroke:var(--soft)}.lead{stroke:var(--ink);stroke-width:.8}
.curve{fill:none;stroke:var(--one);stroke-width:2.2;stroke-linejoin:round}.dot{fill:var(--one)}
.column{fill:var(--one)}.column.pale{opacity:.35}.knee{stroke:var(--two);stroke-width:1.6;stroke-dasharray:5 4}
.ring{fill:none;stroke:var(--two);stroke-width:2.2}
.dots{fill-opacity:.78;stroke:var(--card);stroke-width:.4}.scatter[tabindex]{cursor:pointer;outline-offset:4px}
.scatter.some .dots path{fill-opacity:.3}.scatter .dots path.here{stroke:var(--ink);stroke-width:2;fill-opacity:1}
.scatter .dots path.on{stroke:var(--ink);stroke-width:2;fill-opacity:1}
.chart .flag{display:none}.chart .flag.on{display:inline;fill:var(--ink);font-weight:650;pointer-events:none;
paint-order:stroke;stroke:var(--card);stroke-width:4px;stroke-linejoin:round}
.heat{position:relative;line-height:0}.heat[data-rows]{cursor:crosshair}
.heat .line{position:absolute;left:-6px;right:-6px;min-height:3px;outline:2px solid var(--ink);pointer-events:none}
.names{list-style:none;display:grid;grid-template-columns:repeat(var(--n),minmax(0,1fr));margin:4px 0 0;padding:0 1px;
font-size:.72rem;line-height:1;color:var(--soft)}
.names li{writing-mode:vertical-rl;transform:rotate(180deg);justify-self:center;align-self:start;white-space:nowrap;
width:1em}
.tip{position:fixed;z-index:9;max-width:min(26rem,90vw);padding:4px 9px;border-radius:6px;background:var(--ink);
color:var(--card);font-size:.84rem;line-height:1.35;pointer-events:none}
.finder{position:sticky;top:0;z-index:5;display:flex;flex-wrap:wrap;gap:6px 10px;align-items:center;margin:0 0 20px;
padding:10px 0;background:var(--paper)}
.finder[hidden]{display:none}
.finder input{font:inherit;font-size:.95rem;flex:0 1 20rem;min-width:10rem;color:var(--ink);background:var(--card);
border:1px solid var(--line);border-radius:8px;padding:6px 12px}
.told{color:var(--soft);font-size:.86rem}.hits,.chosen{display:flex;flex-wrap:wrap;gap:6px}.hits:empty,.chosen:empty{display:none}
.finder button,.copy{font:inherit;font-size:.84rem;color:var(--ink);background:var(--card);border:1px solid var(--line);
border-radius:8px;padding:2px 10px;cursor:pointer;max-width:100%;overflow-wrap:anywhere;text-align:left}
.finder button:hover,.copy:hover{border-color:var(--soft)}.chip{border-color:var(--two)!important}
[data-row][role=button]{cursor:pointer}.on[data-row]:not(path){background:color-mix(in srgb,var(--two) 22%,transparent)}
.again h2{display:flex;justify-content:space-between;align-items:center;gap:12px}.copy{font-weight:400;
flex:none;white-space:nowrap}
.quotes{margin:2px 0 0;padding:0 0 0 1.1em;font-size:.84rem;color:var(--soft)}.quotes li{margin:0 0 4px}
details{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:0 24px;margin:0 0 20px}
summary{cursor:pointer;padding:16px 0;font-weight:650}details[open]{padding-bottom:20px}
.part{margin:12px 0 28px}
.scroll{overflow:auto;max-height:26rem}.scroll.wide{max-height:none}
.list th[scope=row]{color:var(--ink);width:auto}.all tr{cursor:pointer}
thead th{width:auto;font-size:.82rem;vertical-align:bottom}.list thead th{position:sticky;top:0;background:var(--card)}
.answer td:first-child{font-weight:650;min-width:6.4rem}.answer td,.answer th{padding-right:20px;min-width:4.4rem}
.answer th{overflow-wrap:normal}.answer td:last-child{min-width:9rem}
.lanes{width:100%;height:auto;display:block;margin:12px 0 0}.lanes text{fill:var(--soft);font-size:12px}
.cursor{display:none;stroke:var(--ink);stroke-width:2}.cursor.on{display:inline}
.cross th,.cross td{overflow-wrap:normal}.cross th[scope=row]{color:var(--ink);width:auto}
.cross td,.cross thead th{min-width:4.2rem}
.cross td{padding-left:8px}.cross thead th{padding-left:8px}.cross thead th:first-child{padding-left:0}
.share{background:linear-gradient(var(--tint),var(--tint)) 0 0/var(--w) 100% no-repeat;
font-variant-numeric:tabular-nums;white-space:nowrap}
.spark{width:100%;min-width:80px;max-width:240px;height:auto;display:block}
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}
.c6{fill:var(--c6)}
.key{width:14px;height:14px;vertical-align:-2px;margin-right:6px;flex:none}
.legend{display:flex;align-items:center;min-width:0}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--grid);vertical-align:top}
th{font-weight:400;color:var(--soft);width:9.5rem}td b{font-weight:650}
pre{margin:12px 0 0;padding:14px 16px;background:var(--paper);border:1px solid var(--line);border-radius:8px;
white-space:pre-wrap;font:.86rem/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
footer{color:var(--soft);font-size:.84rem;margin-top:28px}
@media (max-width:560px){main{padding:24px 12px 40px}section{padding:18px 14px;border-radius:10px}
th{width:7.5rem}details{padding:0 14px}
.finder input{flex:1 1 100%}
.pictures{grid-template-columns:repeat(auto-fill,minmax(92px,1fr));gap:10px}
.chart text{font-size:14px}.chart .axis{font-size:14px}}
@media print{:root{--ink:#000;--soft:#444;--paper:#fff;--card:#fff;--line:#ccc;--grid:#ddd;--one:#0072b2;--two:#d55e00;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#e69f00;--c5:#56b4e9;--c6:#4d4d4d;--tint:#cfe3f1}
body{font-size:11pt}main{max-width:none;padding:0}section{border:0;border-top:1px solid #ccc;border-radius:0;
padding:14px 0}.card,figure,.chart,tr,pre,.bars li{break-inside:avoid}h2,h3{break-after:avoid}
.map{filter:none!important}.finder,.tip,.all,.copy{display:none!important}.scroll{max-height:none;overflow:visible}
details{border:0;padding:0}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""
)
