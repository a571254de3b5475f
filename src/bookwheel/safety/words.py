"""Words that stand before a secret, in many languages, and words that stand where one would be."""

from __future__ import annotations


def _listed(text: str) -> tuple[str, ...]:
    """Return the words of a list that has commas between them; some are of several words."""
    return tuple(" ".join(word.split()) for word in text.split(","))


PASSWORDS = _listed(
    """
    password, passwort, passwd, passphrase, passcode, passw, passkey, kennwort, kenwort,
    contraseña, contrasena, contrasenya, mot de passe, motdepasse, mdp, senha, palavra-passe,
    palavra passe, wachtwoord, hasło, haslo, heslo, salasana, lösenord, losenord, adgangskode,
    passord, jelszó, jelszo, parola d'ordine, parolă, parola, şifre, sifre, lozinka, пароль,
    пароля, парола, лозинка, 密码, 密碼, 口令, 暗証番号, パスワード, 비밀번호, 암호,
    كلمة المرور, كلمة السر, סיסמה, סיסמא, mật khẩu, kata sandi, รหัสผ่าน, κωδικός, पासवर्ड,
    parool, slaptažodis, geslo, pasahitza, clave de acceso, zugangscode, pass code, wifi key,
    wi-fi key, wlan key, wlan-schlüssel, wpa key, wpa2 key, wpa3 key, wifi code, wlan code,
    wlan-code, code wifi, clé wifi, clave wifi, network key, community string, wep key,
    wpa psk, pre-shared key, preshared key
    """
)
"""Words for a password; what follows them is one unless it is plainly something else."""

ABBREVIATED = ("pwd", "pswd", "psw", "mdp", "psk")
"""Words for a password that are also parts of other words."""

SHORT_PASSWORDS = ("pass", "pw", "clave", "code d'accès")
"""Words that often mean something else; what follows must look chosen."""

KEYS = _listed(
    """
    secret, token, credential, credentials, access signature, session id, sessid, sessionid,
    recovery code, recovery codes, backup code, backup codes, access code, auth code, otp seed,
    totp seed, jeton, geheimnis, api-schlüssel, api schlüssel, geheimer schlüssel,
    zugriffstoken, clé api, clé d'api, clé secrète, clave api, clave secreta, clave de api,
    chiave api, chiave segreta, chave api, chave de api, chave secreta, api-sleutel, klucz api,
    ключ api, api ключ, api-ключ, секретный ключ, токен, api密钥, 密钥, 秘钥, 令牌, apiキー,
    トークン, シークレット, api 키, 토큰
    """
)
"""Words for a token or secret; what follows must look like one."""

KINDS_OF_KEY = _listed(
    """
    api, access, secret, auth, private, encryption, signing, master, storage, account,
    subscription, shared, service, license, licence, app, application, client, consumer,
    function, functions, admin, write, deploy, integration, ingest, ingestion, global, server,
    hmac, jwt, session, project, security, cookie, pre-shared, preshared, recovery, unlock,
    product, activation, rsa, root, bot, instrumentation, personal, user, database, vault,
    django secret, stream, host, rest, maps, webhook, decryption, aes, crypto
    """
)
"""Words that make `key` after them one of these; `key` alone is any key."""

ENDINGS = _listed(
    """
    value, string, str, text, plain, plaintext, raw, hex, b64, base64, prod, production, dev,
    development, test, testing, staging, stage, live, main, default, primary, secondary, old,
    new, current, admin, root, user, db, confirm, confirmation, again, repeat, env, var, local,
    rw, ro, write, read, md5, sandbox, 2fa, key, token, base, salt
    """
)
"""What a name may end on after such a word and still hold the secret itself."""

NOT_SECRET = _listed(
    """
    public, pub, publishable, next, page, continuation, cancel, cancellation, pad, eos, bos,
    unk, sep, mask, cls, stop, max, min, num, count, total, special, sync, no, without, forgot,
    reset, prompt, cache, design, syntax, lexer, end, start, eof, current_token, first, last,
    non, un
    """
)
"""Words that, before such a word in one name, say that it holds no secret."""

OTHER_KEYS = _listed(
    """
    primary, object, row, index, hash, map, lookup, unique, range, ssh, gpg, host, bucket,
    translation, i18n, message, event, etag, content, color, sort, colour, idempotency,
    partition, foreign, surrogate, registry, data, group, signature, verify, verification,
    cert, certificate, trusted, master_public
    """
)
"""Words that make a name ending on `key` after them the name of no secret."""

STAND_INS = frozenset(
    _listed(
        """
        none, null, nil, true, false, yes, no, undefined, empty, blank, n/a, string, str, text,
        varchar, char, bytes, int, integer, number, bool, boolean, object, array, list, dict, type,
        value, any, optional, required, secret, secrets, token, tokens, key, keys, apikey, api_key,
        api-key, pass, pw, pin, user, username, login, name, hidden, input, field, label, example,
        sample, test, testing, dummy, fake, demo, foo, bar, baz, foobar, changeme, changeit,
        default, todo, tbd, tba, fixme, secretstr, securestring, env, environment, vault, file,
        prompt, stdin, ask, auto, generated, random, basic, bearer, digest, oauth, oauth2, jwt,
        saml, ldap, kerberos, ntlm, enabled, disabled, on, off, set, unset, missing, invalid,
        valid, expired, incorrect, wrong, correct, weak, strong, encrypted, hashed, plain,
        plaintext, nullable, unique, redacted, masked, removed, omitted, sensitive, password1,
        password2, passwords, my_password, mypassword, userpassword, db_password, your_password,
        yourpassword, password_here, the_password, a_password, p4ssw0rd_here, option, options,
        flag, switch, parameter, argument, setting, settings, identifier, expression, eof, newline,
        semicolon, comma, keyword, literal, this, that, it, the, and, not, with, for, from, your,
        must, should, can, will, may, is, are, was, has, have, be, here, there, when, if, enter,
        choose, confirm, reset, forgot, change, update, new, old, same, stored, required.,
        optional., needed, used, given, provided, supplied, shown, cookie, cookies, header, query,
        body, param, session, request, response, function, const, let, var, return, import, export,
        class, static, void, fail, failed, passed, ok, error, skip, skipped, warn, warning,
        success, oui, non, ja, nein, sí, obligatorio, requis, erforderlich, obligatoire,
        pflichtfeld, pflichtangabe, verpflichtend, verplicht, requerido, необходим, obrigatória,
        obrigatório, obligatoria, requerida, obbligatorio, obbligatoria, richiesta, wymagane,
        обязателен, обязательно, povinné, zorunlu, kötelező, obligatorisk, påkrævet, krävs,
        vereist, oubliée, oublié, olvidada
        """
    )
)
"""Words that stand where a secret would, in lower case."""

VERBS = _listed(
    """
    is, ist, lautet, war, was, est, es, è, é, är, er, equals, это, является, to, jest, je, 是,
    は, 为, is set to, is now, was set to, set to, changed to, will be, reads, has been set to,
    is still, should be, must be, est maintenant, es ahora, c'est, ist jetzt, on, =, olarak
    """
)
"""What is said between the name of a secret and the secret itself."""
