/** Redacts secrets in strings, for example in messages, stacks and URLs. */

export const redacted = '[redacted]'

/**
 * Matches a string without `=`, `:` and spaces. Such a string cannot contain a name followed by a value. It may still contain a JSON web
 * token or a private key in base64. `encoded` matches the beginning of a JSON web token and of such a key.
 */
const plain = /^[^=: ]*$/
const encoded = /eyJ|LS0t/
/** A quick check before the `rules`. If a string does not match this pattern, no rule matches it. Most strings do not match. */
const suspicious = /pass|pwd|token|secret|key|bearer|basic|authorization|cookie|credential|:\/\/(?:(?!:\/\/)\S){1,800}@|eyJ|LS0t/i

/**
 * Pattern for words that indicate a secret, such as `password` or `api_key`. The words can be anywhere in a string. `secretEnding` in
 * `secret-keys.ts` matches similar words at the end of a name.
 */
const word = `(?:password|passwd|passphrase|pwd|(?<![a-z])pass|token|secret|credentials?|(?:api|private|secret|access|signing|encryption|client)[-_]?key|key[-_]?data)`
const quote = String.raw`\\*["']`
/**
 * A lookbehind for the position before a colon. It does not match if the word before the colon is exactly `secret`: in the message `secret:
 * "web" not found`, "web" is the name of a Secret and must not be redacted. The values in `"secret": "…"`, `secret="…"` and `client_secret:
 * "…"` are still redacted.
 */
const notBareSecret = String.raw`(?<!(?<![\w-])secret)`

type Rule = readonly [pattern: RegExp, replacement: string | ((match: string, ...groups: string[]) => string)]

/**
 * The patterns of secrets and their replacements. The search for a pattern takes linear time, because every repetition in the pattern meets
 * one of two conditions:
 *
 * - The repetition has an upper limit.
 * - After the repetition has matched a part of the text, the search for another match does not begin inside this part.
 */
const rules: readonly Rule[] = [
  [/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g, redacted],
  // A private key in PEM format, encoded in base64, as in a kubeconfig. A certificate begins with the same characters, so the text is
  // decoded to find out whether it contains a private key.
  [/LS0tLS1CRUdJTi[A-Za-z0-9+/]{8,}={0,2}/g, (text) => (beginOf(text).includes('PRIVATE KEY') ? redacted : text)],
  // A JSON web token.
  [/(?<![\w-])eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]*/g, redacted],
  // The password in a URL. A port is not redacted. A port has up to five digits, followed by `/`, `?`, `#` or the end of the string.
  [/:\/\/([^\s/?#@:"'<>[\]]{0,256}):(?!\d{1,5}(?:[/?#]|$))(?:(?!:\/\/)[^\s"'<>]){1,512}@/g, `://$1:${redacted}@`],
  // A user name of at least 20 characters in a URL. A user name of this length is probably a token. Short user names such as `git` are not
  // redacted.
  [/:\/\/[^\s/?#@:"'<>[\]]{20,256}@/g, `://${redacted}@`],
  [/\b(bearer)([ :]{1,3})([\w.~+/=-]+)/gi, (text, scheme, gap, token) => (isProse(scheme!, token!) ? text : `${scheme}${gap}${redacted}`)],
  [
    /\b(basic) ([A-Za-z0-9+/]{4,}={0,2})/gi,
    (text, scheme, pair) => (Buffer.from(pair!, 'base64').includes(':') ? `${scheme} ${redacted}` : text),
  ],
  // An `Authorization` header with a scheme other than Bearer and Basic, including the quoted parameters of Digest.
  [
    /(authorization["'\\]{0,4}\s{0,2}[:=]\s{0,2}["'\\]{0,4}(?:Digest|Negotiate|NTLM|Token|ApiKey|AWS4-HMAC-SHA256)\s)(?:="[^"\r\n]{0,512}"(?=[,\s]|$)|=\\"[^"\r\n]{0,512}\\"|[^\r\n"'])+/gi,
    `$1${redacted}`,
  ],
  [/(cookie["'\\]{0,4}:\s{0,2}["'\\]{0,4})(?=[\w.-]{1,100}=)[^\r\n"'\\]+/gi, `$1${redacted}`],
  // A Kubernetes field error whose message contains the rejected value.
  [new RegExp(String.raw`(${word}(?:\[[^\]\s]{0,64}\])?: \w{1,16} value: )(?:"(?:[^"\\]|\\.)*"?|\S+)`, 'gi'), `$1${redacted}`],
  // A quoted value after a name that indicates a secret, in JSON, in YAML, in an inspected JavaScript object, or in a shell assignment. The
  // pattern also matches `{"name":"DB_PASSWORD","value":"…"}`.
  [
    new RegExp(
      String.raw`(${word}(?:(?:${quote}\s{0,2},\s{0,2}${quote}value)?${quote}\s{0,2}[:=]|\s{0,2}=|${notBareSecret}\s{0,2}:)\s{0,2})(${quote})(?!(?<!\\)\2)[\s\S]*?((?<!\\)\2|$)`,
      'gi',
    ),
    `$1$2${redacted}$3`,
  ],
  [new RegExp(String.raw`(${word}=)(?!(?:true|false|null|none|undefined)\b)[^\s"'\\,;&(){}[\]]+`, 'gi'), `$1${redacted}`],
  // A line of YAML, or a header, with a single word after the colon. If more words follow the colon, the line is probably a sentence, and
  // does not match.
  [
    new RegExp(String.raw`^([ \t>|-]{0,40}["']?[\w.-]{0,64}?${word}["']?:[ \t]{1,4})[^\s"'[{]\S*(?=[ \t]*(?:#.*)?$)`, 'gim'),
    `$1${redacted}`,
  ],
  [new RegExp(String.raw`([{,]\s{0,4}[\w.-]{0,64}?${word}:\s{1,4})[^\s"'{}[\],]+(?=\s{0,4}[,}])`, 'gi'), `$1${redacted}`],
  [
    new RegExp(String.raw`(--[\w-]{0,40}${word} )([^\s-]\S*)`, 'gi'),
    (text, flag, value) => (/\d|[a-z][A-Z]|\S{20}/.test(value!) ? `${flag}${redacted}` : text),
  ],
]

/** Matches `kind: Secret` and `kind: SecretList` in JSON or YAML. The quotes may be escaped, as in JSON inside another JSON string. */
const secretKind = /\bkind\\*["']?\s{0,2}:\s{0,2}\\*["']?Secret(?:List)?\b/
const secretData = /(\b(?:stringData|data)\\*["']?\s{0,2}:)[\s\S]*/

/**
 * Returns the text with its secrets redacted. A secret is recognized by its form or by the name before it.
 *
 * @param isBeginning true when the text is truncated. The text may then be a Secret whose `kind` was cut off. The function therefore
 *   redacts everything after the first `data:` or `stringData:`.
 */
export function redactText(text: string, isBeginning = false): string {
  if (plain.test(text) && !encoded.test(text)) return text
  let clean = isBeginning || secretKind.test(text) ? text.replace(secretData, `$1 ${redacted}`) : text
  if (!suspicious.test(clean)) return clean
  for (const [pattern, replacement] of rules) clean = clean.replace(pattern, replacement as string)
  return clean
}

function beginOf(base64: string): string {
  return Buffer.from(base64.slice(0, 64), 'base64').toString('latin1')
}

const proseAfterBearer = new Set(
  'token tokens auth authentication authorization authorisation scheme realm error header credential credentials challenge of or and is was not in must'.split(
    ' ',
  ),
)

/**
 * Returns true if "bearer" is part of a sentence, such as "Bearer token is missing" or "the bearer of", or of an authentication challenge
 * (`Bearer realm=…`). Returns false if the word after "bearer" is a token.
 */
function isProse(scheme: string, token: string): boolean {
  const [first] = /^[A-Za-z]*/.exec(token)!
  if (proseAfterBearer.has(first.toLowerCase()) && !/\d/.test(token)) return true
  return scheme === 'bearer' && /^[a-z]+[.,]?$/.test(token)
}
