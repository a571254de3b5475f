"""Notations of command lines and of the files of settings that go with them."""

from __future__ import annotations

from bookwheel.safety.judges import is_chosen, is_in_plain_sight, is_likely_password
from bookwheel.safety.notation import Notation

COMMANDS: tuple[Notation, ...] = (
    Notation(
        "password",
        "machine default",
        r"\b(?:machine\s{1,9}[^\s]{1,200}|default)\s{1,9}(?:login|user)\s",
        r"\s{0,9}\S{1,200}\s{1,9}password\s{1,9}(\S+)",
        is_likely_password,
    ),
    Notation(
        "password",
        "* localhost",
        r"(?:\*|\blocalhost):(?:\*|\d{2,5}):[\w*.-]{1,64}:[\w*.@-]{1,64}:",
        r"([^\s:]{3,})(?m:$)",
        is_likely_password,
        r"[^\s:]{3}",
    ),
    Notation(
        "password",
        ":543 :643",
        r":(?:543[0-9]|6432):[\w*.-]{1,64}:[\w*.@-]{1,64}:",
        r"([^\s:]{3,})(?m:$)",
        is_likely_password,
        r"[^\s:]{3}",
    ),
    Notation(
        "password",
        "]:",
        r"\]:(?:25|465|587|2525)[ \t]{1,9}[\w.@+-]{1,64}:",
        r"([^\s:]{4,})(?m:$)",
        is_likely_password,
        r"[^\s:]{4}",
    ),
    Notation(
        "password",
        "-u --user --proxy-user",
        r"\B-(?:u|-user|-proxy-user)(?:[ =][\"']?|[\"'])[A-Za-z0-9_.@\\+-]{1,64}:",
        r"([^\s\"']{3,})",
        is_likely_password,
        r"[^\s\"']{3}",
    ),
    Notation(
        "password",
        "mysql mariadb",
        r"\b(?:mysql|mariadb)",
        r"[\w-]*\b[^\n|;]{0,160}?\s-p[\"']?([^\s\"'-][^\s\"']{2,})",
        is_likely_password,
        needs=(b" -p",),
    ),
    Notation(
        "password",
        "sshpass redis-cli docker podman smbclient xfreerdp",
        r"\b(?:sshpass|redis-cli|(?:docker|podman) login|smbclient|xfreerdp)\b",
        r"[^\n|;]{0,160}?\s(?:-p|-a|/p:|-P)[ =]?[\"']?([^\s\"'-][^\s\"']{2,})",
        is_likely_password,
        needs=(b" -p", b" -a", b" /p:", b" -P"),
    ),
    Notation(
        "password",
        "sqlcmd bcp zip unzip 7z rar az oc ldap",
        r"\b(?:sqlcmd|bcp|(?:un)?zip|az login|oc login|ldap[a-z]{3,9})\b|\b(?:7za?|7z\.exe|rar) ",
        r"[^\n|;]{0,160}?\s(?:-[PpwW][ =]|-p)[\"']?([^\s\"'-][^\s\"']{2,})",
        is_in_plain_sight,
        needs=(b" -p", b" -P", b" -w", b" -W"),
    ),
    Notation(
        "password",
        "smbclient rpcclient net mount smbmap",
        r"\b(?:smbclient|rpcclient|net (?:rpc|ads)|smbmap)\b",
        r"[^\n|;]{0,160}?\s-U[ =]?[\"']?[\w.\\/-]{1,64}%([^\s\"']{3,})",
        is_likely_password,
        needs=(b"%",),
    ),
    Notation(
        "password",
        "echo printf",
        r"\b(?:echo|printf)[ ]",
        r"[\"']?([^\s\"'|$-][^\s\"'|]{3,64})[\"']? ?\| ?sudo -",
        is_in_plain_sight,
        r"[\"']?[^\s\"'|$-][^\s\"'|]{3,64}[\"']? ?\| ?sudo",
    ),
    Notation(
        "password",
        "-storepass -keypass -srcstorepass -deststorepass",
        r"\B-(?:(?:src|dest)?storepass|(?:src|dest)?keypass)[ =]",
        r"[\"']?([^\s\"'$-][^\s\"']{2,})",
        is_likely_password,
        r"[\"']?[^\s\"'$-]",
    ),
    Notation(
        "password",
        "requirepass masterauth bindpw rootpw htpasswd net",
        r"\b(?:requirepass|masterauth|bindpw|rootpw|htpasswd -\w*b\w* \S{1,200} \S{1,64}|"
        r"net use \S{1,9} \S{1,200})\s",
        r"\s{0,3}[\"']?([^\s\"'/*-][^\s\"']{2,})",
        is_likely_password,
        r"\s{0,3}[\"']?[^\s\"'/*-]",
    ),
    Notation(
        "password",
        "snmp-server",
        r"\bsnmp-server community[ ]",
        r"([^\s]{4,64})",
        is_likely_password,
        r"\S{4}",
    ),
    Notation(
        "password",
        "openssl",
        r"\bopenssl\b",
        r"[^\n|;]{0,160}?\s(?:-k|-K|-(?:pass|passin|passout) pass:)[ ]?[\"']?"
        r"([^\s\"'-][^\s\"']{2,})",
        is_likely_password,
        needs=(b" -k", b" -K", b" pass:"),
    ),
    Notation(
        "password",
        "identified",
        r"\bidentified\s{1,3}(?:with\s{1,3}\S{1,40}\s{1,3})?(?:by|as)\s",
        r"\s{0,3}(?:password\s{1,3})?[\"']([^\"'\n]+)[\"']",
        is_chosen,
        r"\s{0,3}[\"'p]",
    ),
    Notation(
        "password",
        "convertto-securestring",
        r"convertto-securestring\s",
        r"\s{0,3}(?:-string\s{1,3})?[\"']([^\"'\n]+)[\"']",
        is_chosen,
        r"\s{0,3}[\"'-]",
    ),
)
