/** Names that indicate a secret: keys of objects, headers, environment variables, flags. */

/**
 * Endings of such names, ignoring case, dashes, dots and underscores: `client_secret`, `X-Api-Key`, `PGPASSWORD`, `tls.key`. A name that
 * only begins like that (`tokenReviews`, `secretName`, `password-policy`) is not a secret.
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
/** A number of secrets is not a secret. */
const plural = /(?:tokens|cookies|passwords|credentials|apikeys)$/

/** Secrecy of a value: none, always, or unless it is a number. */
export type Secrecy = 'open' | 'secret' | 'secret unless a number'

/** Returns the secrecy of the values of this name. */
export function secrecyOf(name: string): Secrecy {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  if (secretName.test(plain) || !(secretEnding.test(plain) || passWord.test(name))) return 'open'
  return plural.test(plain) ? 'secret unless a number' : 'secret'
}
