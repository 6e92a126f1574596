/** Payloads that try to act instead of being read, and a log that has each of them in every field. */

/**
 * @param {string} beacon a URL that must never be asked
 * @returns {string[]}
 */
export function payloads(beacon) {
  const hit = `fetch('${beacon}/x')`;
  return [
    `<script>${hit}</script>`,
    `<script src="${beacon}/s.js"></script>`,
    `<img src="${beacon}/i.png">`,
    `<img src=x onerror="${hit}">`,
    `<svg onload="${hit}">`,
    `<svg><script>${hit}</script></svg>`,
    `<svg><image href="${beacon}/i.svg"/></svg>`,
    `<svg><use href="${beacon}/u.svg#a"/></svg>`,
    `<iframe src="javascript:parent.alert(1)"></iframe>`,
    `<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>`,
    `<iframe src="${beacon}/f"></iframe>`,
    `<object data="${beacon}/o"></object>`,
    `<embed src="${beacon}/e">`,
    `<link rel="stylesheet" href="${beacon}/c.css">`,
    `<link rel="prefetch" href="${beacon}/p">`,
    `<style>@import url('${beacon}/c.css');</style>`,
    `<style>body{background:url('${beacon}/b')}</style>`,
    `<div style="background:url('${beacon}/d')">x</div>`,
    `<video src="${beacon}/v" autoplay onerror="${hit}"></video>`,
    `<audio src="${beacon}/a" autoplay></audio>`,
    `<video poster="${beacon}/poster"></video>`,
    `<input autofocus onfocus="${hit}">`,
    `<details open ontoggle="${hit}">x</details>`,
    `<body onload="${hit}">`,
    `<marquee onstart="${hit}">x</marquee>`,
    `<base href="${beacon}/">`,
    `<meta http-equiv="refresh" content="0;url=${beacon}/m">`,
    `<form action="${beacon}/form"><button autofocus>x</button></form>`,
    `<math><mtext><img src=x onerror="${hit}"></mtext></math>`,
    `<noscript><p title="</noscript><img src=x onerror=${hit}>"></noscript>`,
    `<template><img src="${beacon}/t"></template>`,
    `"><script>${hit}</script>`,
    `'><img src=x onerror=alert(1)>`,
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    `javascript:${hit}`,
    `[link](javascript:alert(1))`,
    `![](${beacon}/md.png)`,
    `![alt](${beacon}/md2.png "title")`,
    `[![](${beacon}/md3.png)](${beacon}/md4)`,
    `<${beacon}/auto>`,
    `${beacon}/plain`,
    "{{constructor.constructor('alert(1)')()}}",
    "$" + "{alert(1)}",
    "<%= alert(1) %>",
    "__proto__",
    "constructor",
    "\u202e\u2066gnp.exe\u2069\u200b",
    "\u001b]8;;http://evil.test\u0007click\u001b]8;;\u0007",
    "data:text/html,<script>alert(1)</script>",
    "--></script><script>alert(1)</script><!--",
  ];
}

/**
 * One in our own form, which has more fields that hold text of the log: the payload is in all of them.
 * @param {string} payload
 * @param {number} i
 */
export function canonical(payload, i) {
  const used = `ITN-${48000 + i}`;
  const said = `${payload} ${used}`;
  const agent = payload;
  return {
    schema: "trajcredit.trajectory/1",
    id: `own ${i} ${payload}`,
    dataset: payload,
    task: payload,
    role: payload,
    group: `own ${Math.floor(i / 2)} ${payload.slice(0, 40)}`,
    trial: payload,
    policy_version: payload,
    parent: { trajectory: payload, span: 0 },
    answer: payload,
    rewards: [{ value: i % 2, source: "human", name: payload, at: "2026-05-03T10:00:00Z" }],
    tools: [{ name: payload, description: payload, parameters: { [payload]: payload }, writes: true }],
    spans: [
      { kind: "system", turn: -1, text: payload },
      { kind: "user", turn: -1, text: said },
      { kind: "reasoning", turn: 0, text: said, agent },
      {
        kind: "tool_call",
        turn: 0,
        name: payload,
        call_id: payload,
        agent,
        arguments: { [payload]: payload, id: used },
      },
      { kind: "tool_result", turn: 0, name: payload, call_id: payload, result_of: 3, text: said, error: true },
      { kind: "meta", turn: 0, text: payload },
      { kind: "assistant", turn: 1, text: said, agent },
    ],
    edges: [{ parent: 3, child: 6, kind: "explicit", weight: 1, evidence: payload }],
    report: [{ code: payload.slice(0, 60), message: payload, span: 3 }],
  };
}

/**
 * One trajectory with the payload in its id, group, message, tool name, argument key and value, and result.
 * @param {string} payload
 * @param {number} i
 */
export function trajectory(payload, i) {
  const call = `call-${i}`;
  const used = `ITN-${48000 + i}`;
  return {
    trajectory_id: `${i} ${payload}`,
    group_id: `group ${Math.floor(i / 2)} ${payload.slice(0, 40)}`,
    reward: i % 2,
    messages: [
      { role: "system", content: payload },
      { role: "user", content: `${payload} please use ${used}` },
      {
        role: "assistant",
        content: payload,
        tool_calls: [
          {
            id: call,
            type: "function",
            function: { name: payload, arguments: JSON.stringify({ [payload]: payload, id: used }) },
          },
        ],
      },
      { role: "tool", tool_call_id: call, name: payload, content: `${payload} ${used}` },
      { role: "assistant", content: `${payload} done with ${used}` },
    ],
  };
}
