/** Removes secrets from strings: messages, stacks, URLs and others. */

export const redacted = '[redacted]'

/** Matches a string without a name before a value; such a string can only contain a token or a key in base64. */
const plain = /^[^=: ]*$/
const encoded = /eyJ|LS0t/
/** Matches every string that a rule below matches; most strings are matched only against this expression. */
const suspicious = /pass|pwd|token|secret|key|bearer|basic|authorization|cookie|credential|:\/\/(?:(?!:\/\/)\S){1,800}@|eyJ|LS0t/i

/** The words of `secretEnding`, for the middle of a string. */
const word = `(?:password|passwd|passphrase|pwd|(?<![a-z])pass|token|secret|credentials?|(?:api|private|secret|access|signing|encryption|client)[-_]?key|key[-_]?data)`
const quote = String.raw`\\*["']`
/**
 * Excludes a bare `secret:`, because `secret: "web"` in a sentence is the name of a Secret; `"secret": "…"`, `secret="…"` and
 * `client_secret: "…"` are secrets.
 */
const notBareSecret = String.raw`(?<!(?<![\w-])secret)`

type Rule = readonly [pattern: RegExp, replacement: string | ((match: string, ...groups: string[]) => string)]

/**
 * The patterns of secrets and their replacements. Every repetition is bounded, or cannot begin within its own match, so each rule takes
 * linear time.
 */
const rules: readonly Rule[] = [
  [/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g, redacted],
  // A private key in PEM encoded with base64, as in a kubeconfig; certificates begin with the same characters.
  [/LS0tLS1CRUdJTi[A-Za-z0-9+/]{8,}={0,2}/g, (text) => (beginOf(text).includes('PRIVATE KEY') ? redacted : text)],
  // A JSON web token.
  [/(?<![\w-])eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]*/g, redacted],
  // The password in a URL; digits after the colon may be a port.
  [/:\/\/([^\s/?#@:"'<>[\]]{0,256}):(?!\d{1,5}(?:[/?#]|$))(?:(?!:\/\/)[^\s"'<>]){1,512}@/g, `://$1:${redacted}@`],
  // A user name in a URL that is as long as a token, unlike `git@`.
  [/:\/\/[^\s/?#@:"'<>[\]]{20,256}@/g, `://${redacted}@`],
  [/\b(bearer)([ :]{1,3})([\w.~+/=-]+)/gi, (text, scheme, gap, token) => (isProse(scheme!, token!) ? text : `${scheme}${gap}${redacted}`)],
  [
    /\b(basic) ([A-Za-z0-9+/]{4,}={0,2})/gi,
    (text, scheme, pair) => (Buffer.from(pair!, 'base64').includes(':') ? `${scheme} ${redacted}` : text),
  ],
  // An `Authorization` header with another scheme, including the quoted parameters of Digest.
  [
    /(authorization["'\\]{0,4}\s{0,2}[:=]\s{0,2}["'\\]{0,4}(?:Digest|Negotiate|NTLM|Token|ApiKey|AWS4-HMAC-SHA256)\s)(?:="[^"\r\n]{0,512}"(?=[,\s]|$)|=\\"[^"\r\n]{0,512}\\"|[^\r\n"'])+/gi,
    `$1${redacted}`,
  ],
  [/(cookie["'\\]{0,4}:\s{0,2}["'\\]{0,4})(?=[\w.-]{1,100}=)[^\r\n"'\\]+/gi, `$1${redacted}`],
  // A field error, which contains the rejected value.
  [new RegExp(String.raw`(${word}(?:\[[^\]\s]{0,64}\])?: \w{1,16} value: )(?:"(?:[^"\\]|\\.)*"?|\S+)`, 'gi'), `$1${redacted}`],
  // A quoted value: JSON, also as an entry {"name":…,"value":…}, YAML, an inspected object, an assignment in a shell.
  [
    new RegExp(
      String.raw`(${word}(?:(?:${quote}\s{0,2},\s{0,2}${quote}value)?${quote}\s{0,2}[:=]|\s{0,2}=|${notBareSecret}\s{0,2}:)\s{0,2})(${quote})(?!(?<!\\)\2)[\s\S]*?((?<!\\)\2|$)`,
      'gi',
    ),
    `$1$2${redacted}$3`,
  ],
  [new RegExp(String.raw`(${word}=)(?!(?:true|false|null|none|undefined)\b)[^\s"'\\,;&(){}[\]]+`, 'gi'), `$1${redacted}`],
  // A line of YAML or a header, where a single word follows the colon, unlike in a sentence.
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

/** Matches the kind of a Secret as JSON or YAML, even when it is quoted within another string. */
const secretKind = /\bkind\\*["']?\s{0,2}:\s{0,2}\\*["']?Secret(?:List)?\b/
const secretData = /(\b(?:stringData|data)\\*["']?\s{0,2}:)[\s\S]*/

/**
 * Returns the string without secrets, which are recognized by their form or by the name before them.
 *
 * @param isBeginning true when the string is truncated: the kind of an object in it may then be missing.
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

/** Returns whether "bearer" is part of a sentence rather than a header: "Bearer token is missing", "Bearer realm=…", "the bearer of". */
function isProse(scheme: string, token: string): boolean {
  const [first] = /^[A-Za-z]*/.exec(token)!
  if (proseAfterBearer.has(first.toLowerCase()) && !/\d/.test(token)) return true
  return scheme === 'bearer' && /^[a-z]+[.,]?$/.test(token)
}
