/** Names that indicate a secret: keys of objects, headers, environment variables, flags. */

/**
 * Matches names with such an ending, in lower case without dashes, dots and underscores: `client_secret`, `X-Api-Key`, `PGPASSWORD`,
 * `tls.key`. A name that only begins with such a word (`tokenReviews`, `secretName`, `password-policy`) does not indicate a secret.
 */
const secretEnding = new RegExp(
  `(?:${[
    'passwords?|passwd|passphrase|pwd|tokens?|secret|credentials?|authorization|cookies?',
    '(?:api|private|secret|access|signing|encryption|client|tls)key|apikeys|keydata|idrsa',
    // OpenShift stores the token of a service account in an annotation with this name.
    'tokensecretvalue',
  ].join('|')})$`,
)
/** `pass` is a separate word in `DB_PASS` and `dbPass`, but not in `bypass`. */
const passWord = /(?:^|[^A-Za-z])(?:pass|PASS|Pass)$|[a-z]Pass$/
/** Fields of charts and custom resources that contain the name of a Secret. */
const secretName = /(?:pull|existing|tls|ca|certificate)secret$/
/** Plural names, whose value may be a count such as `maxTokens: 100`: a number below such a name is not a secret. */
const plural = /(?:tokens|cookies|passwords|credentials|apikeys)$/

/** The secrecy of a value: never secret, always secret, or secret unless the value is a number. */
export type Secrecy = 'open' | 'secret' | 'secret unless a number'

/** Returns the secrecy of the values of this name. */
export function secrecyOf(name: string): Secrecy {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  if (secretName.test(plain) || !(secretEnding.test(plain) || passWord.test(name))) return 'open'
  return plural.test(plain) ? 'secret unless a number' : 'secret'
}
