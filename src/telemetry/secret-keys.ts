/** Recognizes names that indicate a secret: keys of objects, headers, environment variables and flags. */

/**
 * Matches names that end with a word for a secret, such as `client_secret`, `X-Api-Key`, `PGPASSWORD` and `tls.key`. Names that only begin
 * with such a word do not match, for example `tokenReviews`, `secretName` or `password-policy`. Before the match, a name must be reduced to
 * lower-case letters and digits.
 */
const secretEnding = new RegExp(
  `(?:${[
    'passwords?|passwd|passphrase|pwd|tokens?|secret|credentials?|authorization|cookies?',
    '(?:api|private|secret|access|signing|encryption|client|tls)key|apikeys|keydata|idrsa',
    // The OpenShift annotation that contains the token of a service account.
    'tokensecretvalue',
  ].join('|')})$`,
)
/** Matches `pass` as a separate word at the end of a name, as in `DB_PASS` and `dbPass`, but not in `bypass`. */
const passWord = /(?:^|[^A-Za-z])(?:pass|PASS|Pass)$|[a-z]Pass$/
/** Matches names such as `pullSecret`. In Helm charts and custom resources, the value of such a field is the name of a Secret. */
const secretName = /(?:pull|existing|tls|ca|certificate)secret$/
/**
 * Matches plural names. The value of such a name may be a quantity, as in `maxTokens: 100`. A number with such a name is therefore not
 * treated as a secret.
 */
const plural = /(?:tokens|cookies|passwords|credentials|apikeys)$/

/** The secrecy of the value that belongs to a name. `open`: the name does not indicate a secret. */
export type Secrecy = 'open' | 'secret' | 'secret unless a number'

/** Determines from a name, such as the key of an object or the name of a header, whether the value with this name is a secret. */
export function secrecyOf(name: string): Secrecy {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  if (secretName.test(plain) || !(secretEnding.test(plain) || passWord.test(name))) return 'open'
  return plural.test(plain) ? 'secret unless a number' : 'secret'
}
