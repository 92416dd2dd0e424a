/**
 * Decides when the CA must be created or replaced. The functions are pure: the time is a parameter.
 *
 * An `AuthorityState` has three parts:
 *
 * - `current` is the CA that signs.
 * - `previous` contains the replaced CAs. They stay in the trust bundle, because clients must still trust their leaves.
 * - `next` is a CA that is in the trust bundle before it signs. This code never creates a `next`, because `replaceAuthority` replaces a CA
 *   in a single step. A usable `next` in the store is preserved until the CA is replaced.
 */
import type { Certificate } from './certificate.ts'
import { bundleText, isSignedBy, pairProblem, readBundle, readCertificate, uncoveredNames } from './certificate.ts'
import type { KeyPair } from './issue.ts'
import { signingProblem } from './issuer.ts'

export interface AuthorityState {
  readonly current: KeyPair
  readonly next?: KeyPair
  /** The certificates of replaced CAs, newest first. A replaced CA never signs again, so its private key is not stored. */
  readonly previous: readonly string[]
}

/** A CA as it was read from a store, where any field may be missing or damaged. */
export interface StoredAuthority {
  readonly current?: Partial<KeyPair>
  readonly next?: Partial<KeyPair>
  readonly previous?: readonly string[]
}

/** The necessary action for the CA in a store: keep the CA, replace the CA, or create a CA. */
export type AuthorityDecision =
  | { readonly action: 'keep'; readonly state: AuthorityState }
  /** A CA must be created, because the store contains no CA. */
  | { readonly action: 'create' }
  /**
   * The CA must be replaced. `urgent` is true when the CA is unusable (damaged, expired or incomplete), and false when it merely expires
   * soon. `reason` is for log messages.
   */
  | { readonly action: 'replace'; readonly urgent: boolean; readonly reason: string }

/** Decides which action the CA in the store needs. */
export function decideAuthority(stored: StoredAuthority | undefined, now: number): AuthorityDecision {
  const { cert, key } = stored?.current ?? {}
  if (!cert && !key) return { action: 'create' }
  const problem =
    cert && key ? (pairProblem(cert, key, now) ?? signingProblem(cert, key)) : `the ${cert ? 'key' : 'certificate'} is missing`
  if (problem !== undefined) return { action: 'replace', urgent: true, reason: problem }
  const current = { cert: cert!, key: key! }
  const certificate = readCertificate(current.cert)
  if (lifeLeft(certificate, now) < 1 / 3) {
    return {
      action: 'replace',
      urgent: false,
      reason: `less than a third of its life is left (it expires on ${new Date(certificate.notAfter).toISOString()})`,
    }
  }
  const next = usablePair(stored?.next, now)
  return { action: 'keep', state: { current, ...(next && { next }), previous: unexpired(stored?.previous ?? [], now) } }
}

/**
 * Returns the state after `fresh` has replaced the CA. `fresh` signs immediately, without an earlier phase in which `fresh` is only in the
 * trust bundle. The CA certificates in `replaced` that have not expired stay in the trust bundle, because servers may still use leaf
 * certificates that the replaced CAs have signed.
 */
export function replaceAuthority(replaced: readonly (StoredAuthority | undefined)[], fresh: KeyPair, now: number): AuthorityState {
  const before = replaced.flatMap((each) => [each?.current?.cert, each?.next?.cert, ...(each?.previous ?? [])])
  const previous = unexpired(
    before.filter((cert) => cert !== undefined),
    now,
  )
  return { current: fresh, previous }
}

/** Returns the trust bundle as PEM: the signing CA first, followed by the other CAs that have not expired. */
export function bundleOf({ current, next, previous }: AuthorityState, now: number): string {
  const others = readBundle([next?.cert ?? '', ...previous].join('\n')).filter((certificate) => now < certificate.notAfter)
  return bundleText(readBundle([current.cert, bundleText(others)].join('\n')))
}

/** Returns the reason why a leaf certificate must be replaced. Returns undefined when the leaf certificate is valid. */
export function leafProblem(
  leaf: KeyPair,
  state: Pick<AuthorityState, 'current'>,
  names: { readonly names: readonly string[]; readonly ips: readonly string[] },
  now: number,
): string | undefined {
  const problem = pairProblem(leaf.cert, leaf.key, now)
  if (problem !== undefined) return problem
  const certificate = readCertificate(leaf.cert)
  if (!isSignedBy(certificate, [readCertificate(state.current.cert)])) return 'it is not signed by the current authority'
  const missing = uncoveredNames(certificate, names)
  return missing.length === 0 ? undefined : `it is not for ${missing.join(', ')}`
}

/** Returns true when two thirds of a leaf's lifetime have passed. */
export function isRenewalDue(leaf: KeyPair, now: number): boolean {
  return lifeLeft(readCertificate(leaf.cert), now) <= 1 / 3
}

function lifeLeft({ notBefore, notAfter }: Certificate, now: number): number {
  return (notAfter - now) / (notAfter - notBefore)
}

function usablePair(pair: Partial<KeyPair> | undefined, now: number): KeyPair | undefined {
  if (!pair?.cert || !pair.key || pairProblem(pair.cert, pair.key, now) !== undefined) return undefined
  return { cert: pair.cert, key: pair.key }
}

function unexpired(certs: readonly string[], now: number): string[] {
  return readBundle(certs.join('\n'))
    .filter((certificate) => certificate.x509.ca && now < certificate.notAfter)
    .map(({ pem }) => pem)
}
