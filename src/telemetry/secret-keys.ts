/** Names that announce a secret: keys of objects, headers, environment variables, flags. */

/**
 * How such a name ends, without case, dashes, dots and underscores: `client_secret`, `X-Api-Key`, `PGPASSWORD`, `tls.key`.
 * A name that only begins like that (`tokenReviews`, `secretName`, `password-policy`) says something about secrets and is not one.
 */
const secretEnding = new RegExp(
  `(?:${[
    'passwords?|passwd|passphrase|pwd|tokens?|secret|credentials?|authorization|cookies?',
    '(?:api|private|secret|access|signing|encryption|client|tls)key|apikeys|keydata|idrsa',
    // OpenShift keeps the token of a service account in an annotation of this name.
    'tokensecretvalue',
  ].join('|')})$`,
)
/** `pass` is a word of its own in `DB_PASS` and `dbPass`, and not in `bypass`. */
const passWord = /(?:^|[^A-Za-z])(?:pass|PASS|Pass)$|[a-z]Pass$/
/** They hold the name of a Secret in charts and custom resources. */
const secretName = /(?:pull|existing|tls|ca|certificate)secret$/
/** A count of secrets is no secret. */
const plural = /(?:tokens|cookies|passwords|credentials|apikeys)$/

/** What a value is worth hiding for: nothing of it, all of it, or all but a number. */
export type Secrecy = 'open' | 'secret' | 'secret unless a number'

/** Whether the values of this name are secrets. */
export function secrecyOf(name: string): Secrecy {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  if (secretName.test(plain) || !(secretEnding.test(plain) || passWord.test(name))) return 'open'
  return plural.test(plain) ? 'secret unless a number' : 'secret'
}
