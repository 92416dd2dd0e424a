/** Converts a CA to the files of a folder or the entries of a Secret, and converts the files or entries to a CA. */
import type { AuthorityState, StoredAuthority } from './authority.ts'
import { bundleOf } from './authority.ts'
import { readBundle } from './certificate.ts'

export type NamedTexts = Readonly<Record<string, string | undefined>>

/**
 * The names of the files or Secret entries. `ca.crt` contains the trust bundle with which clients verify the serving certificate of this
 * process. The first certificate of the bundle is the signing CA.
 */
export const authorityFiles = { cert: 'ca.crt', key: 'ca.key', nextCert: 'ca-next.crt', nextKey: 'ca-next.key' } as const

export function readAuthority(texts: NamedTexts): StoredAuthority {
  const bundle = texts[authorityFiles.cert]
  const key = texts[authorityFiles.key]
  const nextCert = texts[authorityFiles.nextCert]
  const nextKey = texts[authorityFiles.nextKey]
  const [current, ...others] = readBundle(bundle ?? '')
  const [next] = readBundle(nextCert ?? '')
  return {
    // If `ca.crt` contains no valid certificate, the whole text is returned as `cert`. The CA is then reported as damaged, and not as
    // missing.
    current: { ...(bundle && { cert: current?.pem ?? bundle }), ...(key && { key }) },
    ...(nextCert && nextKey && { next: { cert: nextCert, key: nextKey } }),
    previous: others.filter(({ fingerprint }) => fingerprint !== next?.fingerprint).map(({ pem }) => pem),
  }
}

/** Returns the files or Secret entries to store. A file or entry whose value is undefined must be deleted. */
export function writeAuthority(state: AuthorityState, now: number): NamedTexts {
  return {
    [authorityFiles.key]: state.current.key,
    [authorityFiles.cert]: bundleOf(state, now),
    [authorityFiles.nextKey]: state.next?.key,
    [authorityFiles.nextCert]: state.next?.cert,
  }
}
