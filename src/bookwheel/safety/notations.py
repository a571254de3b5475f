"""Secrets known by the notation they stand in: headers, addresses, hashes, calls, sentences.

One row per notation: what must occur for it to be looked for at all, its pattern, whose first
group is the secret, and how what was found is judged.
"""

from __future__ import annotations

from bookwheel.safety.command_lines import COMMANDS
from bookwheel.safety.judges import (
    is_bearer,
    is_below_its_name,
    is_beside_its_name,
    is_chosen,
    is_chosen_in_query,
    is_code_list,
    is_cookie,
    is_credentials,
    is_header,
    is_key_material,
    is_likely_password,
    is_mixed,
    is_random_with_digits,
    is_recovery_key,
)
from bookwheel.safety.notation import Notation
from bookwheel.safety.values import is_named_in_prose, is_strong

_QUERY_NAMES = (
    r"(?:[a-z0-9_.~\-\[\]]*(?:token|secret|password|passwd|passwort|pwd|apikey|api[_-]key|"
    r"access[_-]?key|signature|credential|session[_-]?id|auth(?:key|code)?)|sig|jwt|"
    r"subscription-key)="
)
_WEBHOOKS = (
    r"https?://(?:[\w-]+\.)*(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)|"
    r"webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook|"
    r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks|hooks\.zapier\.com/hooks|"
    r"maker\.ifttt\.com/trigger|hook\.(?:\w+\.)?make\.com|oapi\.dingtalk\.com/robot|"
    r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot|qyapi\.weixin\.qq\.com/cgi-bin/webhook)/"
)
_SCHEMES = (
    r"(?:basic|bearer|token|apikey|api-key|key|bot|splunk|geniekey|sso-key|negotiate|ntlm|oauth|ssws|"
    r"zoho-oauthtoken|klaviyo-api-key|discogs|digest|hawk|aws4-hmac-sha256|signature)"
    r"(?:[ ]|%20|\+){1,3}"
)
_PARAMETERS = r"(?:[\w-]{1,40}=\"[^\"\r\n]*\"(?:[, ]{1,3}[\w-]{1,40}=[^\s\",]+)*[, ]{0,3})+"
_CODES = (
    r"(?:PIN(?: code| number)?|one[- ]time[- ](?:password|passcode|code|pin)|OTP|PUK|"
    r"(?:verification|security|confirmation|alarm|door|gate|entry|safe|login|sign-in|2FA|"
    r"unlock) code|(?:access |meeting )?passcode|kenncode|zugangscode)"
)
_OPENED = (
    "card|karte|carte|tarjeta|sim|phone|handy|door|tür|gate|alarm|safe|tresor|lock|voicemail|"
    "mailbox|ipad|tablet|laptop|garage|puerta|porte|keypad|bank|visa|giro|sparkasse|coffre"
)
"""What a PIN is for; after another word it may be that of a plug or of a post office."""
_BELOW = (
    r"(?:(?:-{3,40}|={3,40})\r?\n)?(?:[ \t]{0,3}\r?\n)?[ \t]{0,8}"
    r"(?:```[a-z]{0,12}\r?\n[ \t]{0,8})?"
)
"""What stands between a heading and what is below it."""
NOTATIONS: tuple[Notation, ...] = (
    *COMMANDS,
    Notation(
        "jwt", "eyj", r"eyJ[A-Za-z0-9_-]{10,}\.", r"[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*){0,3}"
    ),
    Notation(
        "authorization",
        "authorization",
        r"authorization[\"']?[ \t]{0,3}[:=]",
        rf"\s{{0,3}}[\"']?{_SCHEMES}({_PARAMETERS}|[^\r\n\"'`]{{4,}})",
        is_header,
        r"[\s\"']{0,4}[A-Za-z0-9._~+/=:-]{3}",
    ),
    Notation(
        "authorization",
        "authorization",
        r"authorization[\"']?[ \t]{0,3}[:=]",
        r"[ ]{0,3}[\"']?([A-Za-z0-9._~+/=:-]{16,})",
        is_bearer,
        r"[\s\"']{0,4}[A-Za-z0-9._~+/=:-]{3}",
    ),
    Notation(
        "bearer token",
        "bearer",
        r"\bbearer(?:[ :=]|%20){1,3}[\"']?",
        r"([\w.~+/=-]{10,})",
        is_bearer,
        r"[\w.~+/=-]{10}",
    ),
    Notation(
        "basic auth",
        "basic",
        r"\bbasic ",
        r"([A-Za-z0-9+/_-]{6,}={0,2})",
        is_credentials,
        r"[\w+/-]{6}",
    ),
    Notation(
        "basic auth",
        "auth _auth",
        r"\b_?auth[\"']?[ ]{0,3}[:=]",
        r"[ ]{0,3}[\"']?([A-Za-z0-9+/]{6,}={0,2})",
        is_credentials,
        r"[ ]{0,3}[\"']?[A-Za-z0-9+/]{6}",
    ),
    Notation(
        "basic auth",
        '"auth"',
        r"\"auth\"[ ]{0,3}:",
        r"[ ]{0,3}\"([A-Za-z0-9+/]{20,}={0,2})\"",
        is_random_with_digits,
        r"[ ]{0,3}\"[A-Za-z0-9+/]{20}",
    ),
    Notation(
        "token",
        "? & ; #",
        rf"[?&;#]{_QUERY_NAMES}",
        r"([^&;\s\"'<>`)\]|\\]+)",
        is_chosen_in_query,
        r"[^&;\s\"'<>`)\]|\\]{4}",
    ),
    Notation(
        "token",
        "? & ;",
        r"[?&;](?:key|code|auth|sid|session|ticket|otp|pass|se?cret|hmac|k|t|s|st|tk|sign)=",
        r"([^&\s\"'<>#`)\]|\\]{12,})",
        is_random_with_digits,
        r"[^&\s\"'<>#`)\]|\\]{12}",
    ),
    Notation(
        "password hash",
        "$",
        r"\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|md5|sha1|argon2(?:id|i|d)|p|h|s|pbkdf2(?:-\w+)?|scrypt|"
        r"bcrypt-sha256)\$",
        r"[A-Za-z0-9./+=,$*_-]{16,}",
        peek=r"[A-Za-z0-9./+=,$*_-]{16}",
    ),
    Notation(
        "password hash",
        "pbkdf2_sha bcrypt argon2 scrypt",
        r"\b(?:pbkdf2_sha\d+|bcrypt_sha256|bcrypt|argon2|scrypt)\$",
        r"[^\s\"':|]{20,}",
        peek=r"[^\s\"':|]{20}",
    ),
    Notation(
        "password hash",
        "pbkdf2: scrypt:",
        r"\b(?:pbkdf2|scrypt):[\w:]{1,40}\$",
        r"[A-Za-z0-9./]{1,64}\$[0-9a-f]{32,}",
        peek=r"[A-Za-z0-9./]{4}",
    ),
    Notation(
        "password hash",
        "{",
        r"\{(?:s?sha(?:256|384|512)?|s?md5|crypt|pbkdf2[\w-]*|argon2)\}",
        r"([A-Za-z0-9+/=$.]{12,})",
        peek=r"[A-Za-z0-9+/=$.]{12}",
    ),
    Notation(
        "password",
        "wifi:",
        r"\bWIFI:",
        r"(?:[THS]:[^;\n]{0,64};){0,4}P:([^;\n]{4,128});",
        is_chosen,
        r"[THSP]:",
    ),
    Notation(
        "password",
        "auth basic httpbasic networkcredential usernamepassword passwordauth credential",
        r"\b(?:auth ?= ?|(?:http)?basic_?auth|networkcredential|usernamepassword\w{0,24}|"
        r"passwordauthentication|credentials?)\(\s{0,3}[\"'][^\"'\n]{1,64}[\"'],",
        r"\s{0,3}[\"']([^\"'\n]{4,})[\"']",
        is_chosen,
        r"\s{0,3}[\"'][^\"'\n]{4}",
    ),
    Notation(
        "password",
        "getconnection mysql_connect mysqli_connect mysqli( pdo(",
        r"\b(?:getconnection|mysqli?_connect|mysqli|pdo)\(",
        r"(?:[^,()\n]{1,160},\s{0,3}){2}[\"']([^\"'\n]{4,64})[\"']",
        is_chosen,
        r"[^,()\n]{1,160},",
    ),
    Notation(
        "password",
        "login log_in sign authenticate",
        r"\b(?:log_?in|sign_?in|authenticate)\(\s{0,3}[\"'][^\"'\n]{1,64}[\"'],",
        r"\s{0,3}[\"']([^\"'\n]{5,})[\"']",
        is_named_in_prose,
        r"\s{0,3}[\"'][^\"'\n]{5}",
    ),
    Notation(
        "password",
        "\" '",
        r"[\"'][a-z0-9_.-]{0,40}(?:password|passwd|secret|token|[_-]key|apikey|_salt|_pass|_pwd)[\"'],",
        r"\s{0,3}[\"']([^\"'\n]{5,})[\"']",
        is_beside_its_name,
        r"\s{0,3}[\"'][^\"'\n]{5}",
    ),
    Notation(
        "password",
        "jdbc:oracle:",
        r"\bjdbc:oracle:thin:[\w.-]{1,64}/",
        r"([^@\s\"']{3,128})@",
        is_likely_password,
        r"[^@\s\"']{3}",
    ),
    Notation(
        "password",
        "cred login log-in user zugangsdaten identifiants",
        r"\b(?:cred(?:ential)?s?|log-?ins?|"
        r"user(?:name)? ?/ ?p(?:ass(?:word|wort)?|wd?)|zugangsdaten|identifiants)\b"
        r"[^\n:/]{0,20}[: ]",
        r"[ ]{0,2}[\w.@-]{2,40} ?[/:|] ?([^\s\"'`/][^\s\"'`]{3,})",
        is_named_in_prose,
        r"[ ]{0,2}[\w.@-]{2,40} ?[/:|]",
    ),
    Notation(
        "password",
        "password passwort passcode",
        r"\b(?:password|passwort|passcode) (?:from|von) ",
        r"[\"'`]?(\S{6,64}?)[\"'`]? (?:to|in|auf|zu)\b",
        is_named_in_prose,
        r"\S{6,64} (?:to|in|auf|zu)\b",
    ),
    Notation(
        "password",
        "password passwort passcode passphrase",
        r"\b(?:password|passwort|passcode|passphrase)(?: (?:for|of|on|für|von) [\w.@-]{1,40})?"
        r"(?: (?:was|is|has been|have been|now|wurde))* (?:changed |set |reset )?(?:to|auf) ",
        r"[\"'`]?([^\s\"'`]{5,64})",
        is_named_in_prose,
        r"[\"'`]?[^\s\"'`]{5}",
    ),
    Notation(
        "password",
        "password passwort passcode passphrase kennwort",
        # at the end of a line, most often of a heading, and the password alone on the next one
        r"\b(?:password|passwort|passcode|passphrase|kennwort)[*_]{0,3}:?[*_]{0,3}[ \t]{0,3}\r?\n",
        rf"{_BELOW}[*_`]{{0,3}}([^\s`<>]{{6,64}}?)[*_`]{{0,3}}[ \t]{{0,3}}(?:\r?\n|$)",
        is_below_its_name,
        rf"{_BELOW}[^\s]{{6}}",
    ),
    Notation(
        "password",
        "password passwort passcode passphrase kennwort",
        r"\b(?:password|passwort|passcode|passphrase|kennwort)[ ]?\(",
        r"([^\s()]{6,64})\)",
        is_below_its_name,
        r"[^\s()]{6,64}\)",
    ),
    Notation(
        "password",
        "use with as mit als avec con",
        r"\b(?:use|with|as|mit|als|avec|con) (?:the |user )?[\w.@-]{2,40} ?/ ?",
        r"([^\s\"'`/][^\s\"'`]{4,63}?)[.,;]?(?:\s|$)",
        is_strong,
        r"[^\s\"'`/][^\s\"'`]{4}",
    ),
    Notation(
        "password",
        "use with as mit als avec con",
        r"\b(?:use|with|as|mit|als|avec|con) (?:the |user )?[\w.@-]{2,40} ?/ ?",
        r"([^\s\"'`/][^\s\"'`]{4,63}) (?:to (?:log|sign)|anmelden|einloggen|pour se connecter)",
        is_named_in_prose,
        r"[^\s\"'`/][^\s\"'`]{4,63} (?:to |an|ein|pour)",
    ),
    Notation(
        "password",
        "use",
        r"\buse ",
        r"[\"'`]?(\S{6,64}?)[\"'`]? as ",
        is_named_in_prose,
        r"\S{6,64} as (?:the |your |an? |its )?(?:[a-z]{2,12} )?pass",
    ),
    Notation(
        "pin",
        "pin one otp puk verification security confirmation alarm door gate entry safe login "
        "sign-in 2fa unlock passcode kenncode zugangscode",
        rf"\b{_CODES}[\"']?[ ]{{0,2}}(?::|=|(?:is|ist|lautet):?)",
        r"[*_]{0,3}[ ]{0,2}[*_`]{0,3}(\d{4,5}#?|\d{7,8}#?)"
        r"(?:[^\w.#-]|\.\s|\.?$)",
        peek=r"[*_]{0,3}[ ]{0,2}[*_`]{0,3}\d{4}",
    ),
    Notation(
        "pin",
        "pin one otp puk verification security confirmation alarm door gate entry safe login "
        "sign-in 2fa unlock passcode kenncode zugangscode",
        rf"\b{_CODES}[\"']?[ ]{{0,2}}(?::|=|(?:is|ist|lautet):?)",
        # six digits and the name of a town behind them are those of a post office in India
        r"[*_]{0,3}[ ]{0,2}[*_`]{0,3}(\d{6}#?)"
        r"(?:[^\w.#,-]|,\s*(?-i:[^A-Z\s])|,\s*$|\.\s|\.?$)",
        peek=r"[*_]{0,3}[ ]{0,2}[*_`]{0,3}\d{4}",
    ),
    Notation(
        "pin",
        "alarm door gate garage keypad safe lock",
        r"\b(?:alarm|door|gate|garage|keypad|safe|lock) code(?: is| ist)?:?[ ]",
        r"((?-i:[A-Z]{0,2})\d{4,8}(?-i:[A-Z]{0,2})[#*]?)(?:[^\w#*]|$)",
        peek=r"[A-Z]{0,2}\d{4}",
    ),
    Notation(
        "pin",
        f"pin {_OPENED.replace('|', ' ')}",
        rf"(?:{_OPENED})[\pL]{{0,12}}[^\n\d]{{1,30}}?\bPIN(?: ?[:=] ?| )|"
        rf"\bPIN [^\n\d]{{0,30}}?(?:{_OPENED})[\pL]{{0,12}}(?: ?[:=-]| is| ist| lautet| est| es) |"
        rf"\b(?-i:PIN) [^\n\d]{{0,30}}?(?:{_OPENED})[\pL]{{0,12}} ",
        r"(\d{4,8})(?:[^\w.#-]|[.#]\s|[.#]?$)",
        needs=(b"PIN", b"Pin", b" pin", b"\npin"),
        alone=True,
    ),
    Notation(
        "pin",
        "pin",
        r"\bPIN[ ]",
        rf"(\d{{4,8}})[ ,;)(-][^\n\d]{{0,20}}(?:{_OPENED})",
        peek=rf"\d{{4,8}}[ ,;)(-][^\n\d]{{0,20}}(?:{_OPENED})",
    ),
    Notation(
        "recovery key",
        "0 1 2 3 4 5 6 7",
        r"\b(?:[0-7]\d{5}\s?-\s?){7}",
        r"[0-7]\d{5}\b",
        is_recovery_key,
        alone=True,
    ),
    Notation(
        "password",
        "u: u= u  user un: un= usr login benutzer nutzer usuario utilisateur",
        r"\b(?:u|un|usr|user(?:name)?|login|(?:be)?nutzer(?:name)?|usuario|utilisateur)[:= ] ?"
        r"[^\s,;/|:=]{1,64} ?[,;/| ] ?(?:p|pass|pwd?|clave|kw|code)[:= ]",
        r"[ ]?(\S{4,64})",
        is_named_in_prose,
        r"[ ]?\S{4}",
    ),
    Notation(
        "password",
        "password secret",
        r"\b(?:password|secret) [05789] ",  # as routers and switches have it
        r"(\S{4,128})",
        is_named_in_prose,
        r"\S{4}",
    ),
    Notation(
        "password",
        "isakmp tacacs-server radius-server",
        r"\b(?:isakmp|(?:tacacs|radius)-server)[^\n]{0,40}? key (?:\d )?",
        r"(\S{4,128})",
        is_named_in_prose,
        r"\S{4}",
    ),
    Notation(
        "recovery codes",
        "recovery backup emergency scratch",
        r"\b(?:recovery|backup|emergency|scratch) codes?\b[^\n]*\n",
        r"(?:[ \t]*\r?\n)?((?:[ \t]{0,9}(?:[-*] |\d{1,2}[.)] )?[`*]{0,2}[a-z0-9-]{6,24}[`*]{0,2}"
        r"[ \t]{0,3}(?:\r?\n|$)){2,24})",
        is_code_list,
        r"\s{0,9}(?:[-*] |\d{1,2}[.)] )?[`*]{0,2}[a-z0-9-]{6}",
    ),
    Notation("pin", "otp", r"\bOTP ", r"(\d{6,8})\b", peek=r"\d{6}"),
    Notation("pin", "puk", r"\bPUK ?[12]? ", r"(\d{8})\b", peek=r"\d{8}"),
    Notation(
        "pin",
        "code",
        r"\bcode ",
        r"(\d{4,8}) to (?:verify|confirm|log|sign|complete|finish)",
        peek=r"\d{4,8} to (?:verify|confirm|log|sign|complete|finish)",
    ),
    Notation(
        "cookie",
        "cookie",
        r"\bcookie[\"']?[ ]{0,3}[:=]",
        r"[ ]{0,3}[\"']?([A-Za-z0-9_.!#$%&*+^|~-]+=[^\r\n\"'`]+)",
        is_cookie,
        r"[^\r\n]{10}",
    ),
    Notation(
        "session id",
        "phpsess jsess sess laravel_sess asp.net_sess connect.sid sid xsrf-token",
        r"\b(?:phpsess|jsess|sess|laravel_sess|asp\.net_sess)(?:ion)?(?:[_-]?id|[_-]?token|[_-]?key)?"
        r"[\"']?[ ]{0,2}[=:]|\b(?:connect\.sid|sid|xsrf-token)[\"']?[ ]{0,2}[=:]",
        r"[ ]{0,2}[\"']?([^;&\s\"'<>,]{10,})",
        is_random_with_digits,
        r"[ ]{0,2}[\"']?[^;&\s\"'<>,]{10}",
    ),
    Notation(
        "aws secret key",
        "akia asia",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}[\"'`\s,:|;]",
        r"[\s,:|;\"'`]{0,8}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        is_key_material,
        r"[\s,:|;\"'`]{0,8}[A-Za-z0-9/+]{16}",
    ),
    Notation(
        "aws secret key",
        "aws amazon",
        r"(?:aws|amazon)[^\n]{0,50}?[\"'\s:=]",
        r"([a-z0-9/+]{40})(?:[^a-z0-9/+=]|$)",
        is_key_material,
        alone=True,
    ),
    Notation("webhook", "http", _WEBHOOKS, r"([^\s\"'<>`]{8,})"),
    Notation("telegram token", "bot", r"\bbot\d{8,10}:", r"([A-Za-z0-9_-]{35})", peek=r"[\w-]{20}"),
    Notation(
        "seed phrase",
        "seed recovery mnemonic",
        r"(?:seed|recovery|mnemonic)(?: phrase| words)?[\"']?\s{0,3}(?::|=|is)\s",
        r"\s{0,3}[\"']?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
        peek=r"\s{0,3}[\"']?(?:[a-z]{3,8}[ ,]{1,2}){3}",
    ),
    Notation(
        "private key",
        "priv wallet signer deployer",
        r"(?:priv(?:ate)?[ _-]?key|wallet|signer|deployer)[\w ]{0,24}[\"']?\s{0,3}(?:[:=]|is)",
        r"\s{0,3}[\"']?((?:0x)?[0-9a-f]{64})\b",
        peek=r"\s{0,3}[\"']?(?:0x)?[0-9a-f]{16}",
    ),
    Notation(
        "api key",
        "key",
        r"\bkey[\"'`*_]{0,3}[ ]{0,2}[:=]",
        r"[ ]{0,2}[\"'`*_]{0,3}([A-Za-z0-9_+/=-]{8,})",
        is_mixed,
        r"[ ]{0,2}[\"'`*_]{0,3}[A-Za-z0-9_+/=-]{8}",
    ),
)
