/** Converts an authority to and from named strings: the files of a folder, or the entries of a Secret. */
import type { AuthorityState, StoredAuthority } from './authority.ts'
import { bundleOf } from './authority.ts'
import { readBundle } from './certificate.ts'

export type NamedTexts = Readonly<Record<string, string | undefined>>

/** `ca.crt` is the whole trust bundle, the signing authority first: the file for clients that must trust this process. */
export const authorityFiles = { cert: 'ca.crt', key: 'ca.key', nextCert: 'ca-next.crt', nextKey: 'ca-next.key' } as const

export function readAuthority(texts: NamedTexts): StoredAuthority {
  const bundle = texts[authorityFiles.cert]
  const key = texts[authorityFiles.key]
  const nextCert = texts[authorityFiles.nextCert]
  const nextKey = texts[authorityFiles.nextKey]
  const [current, ...others] = readBundle(bundle ?? '')
  const [next] = readBundle(nextCert ?? '')
  return {
    // A `ca.crt` without any certificate is passed on and counts as damaged; a missing one counts as missing.
    current: { ...(bundle && { cert: current?.pem ?? bundle }), ...(key && { key }) },
    ...(nextCert && nextKey && { next: { cert: nextCert, key: nextKey } }),
    previous: others.filter(({ fingerprint }) => fingerprint !== next?.fingerprint).map(({ pem }) => pem),
  }
}

/** Returns the files or entries to store; those with the value undefined must be removed. */
export function writeAuthority(state: AuthorityState, now: number): NamedTexts {
  return {
    [authorityFiles.key]: state.current.key,
    [authorityFiles.cert]: bundleOf(state, now),
    [authorityFiles.nextKey]: state.next?.key,
    [authorityFiles.nextCert]: state.next?.cert,
  }
}
