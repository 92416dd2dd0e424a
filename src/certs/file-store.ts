/** Stores certificates and keys in a folder, for a run outside a cluster. The files are `ca.crt`, `ca.key`, `tls.crt` and `tls.key`. */
import { access, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../runtime/clock.ts'
import { messageOf, ProreusError } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { AuthorityState } from './authority.ts'
import { bundleOf, decideAuthority, isRenewalDue, leafProblem, replaceAuthority } from './authority.ts'
import type { NamedTexts } from './authority-data.ts'
import { authorityFiles, readAuthority, writeAuthority } from './authority-data.ts'
import type { Certificate } from './certificate.ts'
import { isTrusted, pairProblem, readBundle, readCertificate, uncoveredNames } from './certificate.ts'
import type { KeyPair } from './issue.ts'
import { issueAuthority, issueLeaf } from './issue.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'
import type { RefreshingCertificateSource, ServingCertificate } from './serving-certificate.ts'
import { refreshingSource, servingCertificate } from './serving-certificate.ts'

export interface FileCertificatesOptions {
  readonly directory: string
  /** DNS names of the serving certificate. */
  readonly names: readonly string[]
  /** IP addresses of the serving certificate. */
  readonly ips: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
}

export const leafFiles = { cert: 'tls.crt', key: 'tls.key' } as const
const allFiles = [...Object.values(authorityFiles), ...Object.values(leafFiles)]
const advice = 'Make it yours and readable by you alone (chmod 600), or choose another folder.'

/**
 * Opens the certificates of a folder:
 *
 * - If the folder contains `tls.crt` and `tls.key`, but no `ca.key`, the certificate was issued elsewhere. The two files are used
 *   unchanged, and never overwritten.
 * - Otherwise, missing certificates are issued. Damaged, expired or mismatching certificates are replaced, and a warning is logged.
 *
 * @throws {ProreusError} `PRO_CERTIFICATE` when the folder cannot be read or written, a certificate from elsewhere is unusable, or other
 *   users could have read or changed a key of Proreus.
 */
export async function openFileCertificates(options: FileCertificatesOptions): Promise<RefreshingCertificateSource> {
  const initial = await bringUpToDate(options, undefined)
  return refreshingSource(initial, (current) => bringUpToDate(options, current), options)
}

/**
 * Reads the existing files of the folder:
 *
 * - If the folder contains a `ca.key`, Proreus has written the keys with mode 0600. A key is rejected if other users could have read or
 *   changed it.
 * - Otherwise, the files were issued elsewhere. Their modes are not checked, because the files may be on a volume whose file modes this
 *   process cannot choose.
 *
 * @throws {ProreusError} `PRO_CERTIFICATE` when a file cannot be read, or a key is rejected.
 */
export async function readCertificateFiles(directory: string): Promise<NamedTexts> {
  const isOwn = await access(join(directory, authorityFiles.key)).then(
    () => true,
    () => false,
  )
  const texts: Record<string, string | undefined> = {}
  for (const file of allFiles) {
    const path = join(directory, file)
    try {
      texts[file] = isOwn && file.endsWith('.key') ? await readPrivateFile(path) : await readFile(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue
      throw new ProreusError('PRO_CERTIFICATE', `${path} cannot be read: ${messageOf(error)}. ${advice}`, { cause: error })
    }
  }
  return texts
}

/** Returns true when the certificate was issued elsewhere: the folder contains `tls.crt` and `tls.key`, but no `ca.key`. */
export function isForeignPair(files: NamedTexts): boolean {
  return Boolean(files[leafFiles.cert] && files[leafFiles.key] && !files[authorityFiles.key])
}

/**
 * Returns the certificates with which clients verify a serving certificate that Proreus has not issued:
 *
 * - `trusted`: the certificates of `ca.crt`. If `ca.crt` is missing or empty, the last certificate of `chain`.
 * - `source`: the description of `trusted` in messages.
 */
export function trustBundleOf(
  directory: string,
  files: NamedTexts,
  chain: readonly Certificate[],
): { readonly trusted: readonly Certificate[]; readonly source: string } {
  const path = join(directory, authorityFiles.cert)
  const text = files[authorityFiles.cert]
  if (text) return { trusted: readBundle(text), source: path }
  return { trusted: chain.slice(-1), source: `the last certificate of ${leafFiles.cert} (${path} is missing or empty)` }
}

async function bringUpToDate(options: FileCertificatesOptions, current: ServingCertificate | undefined): Promise<ServingCertificate> {
  const files = await readCertificateFiles(options.directory)
  if (isForeignPair(files)) return servingCertificate(foreignPair(options, files, current), current)
  const now = options.clock.now()
  const authority = await keepAuthority(options, files, now)
  const leaf = await keepLeaf(options, files, authority, now)
  return servingCertificate({ ...leaf, caBundle: bundleOf(authority.state, now) }, current)
}

function foreignPair(
  { directory, names, ips, clock, logger }: FileCertificatesOptions,
  files: NamedTexts,
  current: ServingCertificate | undefined,
): KeyPair & { caBundle: string } {
  const cert = files[leafFiles.cert]!
  const key = files[leafFiles.key]!
  const path = join(directory, leafFiles.cert)
  const chain = readBundle(cert)
  const { trusted, source } = trustBundleOf(directory, files, chain)
  const problem = pairProblem(cert, key, clock.now()) ?? (isTrusted(chain, trusted) ? undefined : `it is not signed by ${source}`)
  if (problem !== undefined) {
    throw new ProreusError(
      'PRO_CERTIFICATE',
      `${path} cannot be used: ${problem}. There is no ${authorityFiles.key} to issue another with: put a valid certificate and key there, or delete ${leafFiles.cert} and ${leafFiles.key} to have them made.`,
    )
  }
  const missing = uncoveredNames(chain[0]!, { names, ips })
  if (missing.length > 0 && cert !== current?.cert) logger.warn(`${path} is used as it is, but it is not for ${missing.join(', ')}`)
  return { cert, key, caBundle: trusted.map(({ pem }) => pem).join('') }
}

async function keepAuthority(
  { directory, logger }: FileCertificatesOptions,
  files: NamedTexts,
  now: number,
): Promise<{ state: AuthorityState; fresh: boolean }> {
  const stored = readAuthority(files)
  const decision = decideAuthority(stored, now)
  if (decision.action === 'keep') return { state: decision.state, fresh: false }
  const state = replaceAuthority([stored], await issueAuthority(now), now)
  await writeFiles(directory, writeAuthority(state, now))
  if (decision.action === 'create') logger.info(`made a certificate authority in ${directory}`)
  else logger.warn(`replaced the certificate authority in ${directory}: ${decision.reason}`)
  return { state, fresh: true }
}

async function keepLeaf(
  options: FileCertificatesOptions,
  files: NamedTexts,
  { state, fresh }: { state: AuthorityState; fresh: boolean },
  now: number,
): Promise<KeyPair> {
  const { directory, logger } = options
  const stored: KeyPair = { cert: files[leafFiles.cert] ?? '', key: files[leafFiles.key] ?? '' }
  const missing = stored.cert === '' && stored.key === ''
  const problem = missing ? 'there is none' : leafProblem(stored, state, options, now)
  if (problem === undefined && !isRenewalDue(stored, now)) return stored
  const leaf = await issueLeaf(state.current, { names: options.names, ips: options.ips, now })
  await writeFiles(directory, { [leafFiles.key]: leaf.key, [leafFiles.cert]: leaf.cert })
  // A new leaf is expected in three cases: the renewal was due, the leaf was missing, or the CA has just been issued. In these cases, the
  // log level is `info`. Otherwise, the stored leaf was unusable, and the log level is `warn`.
  if (problem === undefined || missing || fresh)
    logger.info({ notAfter: new Date(readCertificate(leaf.cert).notAfter).toISOString() }, `issued ${join(directory, leafFiles.cert)}`)
  else logger.warn(`replaced ${join(directory, leafFiles.cert)}: ${problem}`)
  return leaf
}

/** Writes each file atomically, with mode 0600. A file whose content is undefined is deleted. */
async function writeFiles(directory: string, texts: NamedTexts): Promise<void> {
  try {
    for (const [name, text] of Object.entries(texts)) {
      const path = join(directory, name)
      await (text === undefined ? rm(path, { force: true }) : writePrivateFile(path, text))
    }
  } catch (error) {
    throw new ProreusError(
      'PRO_CERTIFICATE',
      `Certificates cannot be written to ${directory}: ${messageOf(error)}. Make the folder writable, or choose another one.`,
      { cause: error },
    )
  }
}
