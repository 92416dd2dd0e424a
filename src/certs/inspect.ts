/** Implements `proreus certs show` and `proreus certs verify`. */
import { join } from 'node:path'
import { authorityFiles } from './authority-data.ts'
import type { Certificate } from './certificate.ts'
import { isTrusted, pairProblem, readBundle, timeProblem, uncoveredNames } from './certificate.ts'
import { isForeignPair, leafFiles, readCertificateFiles, trustBundleOf } from './file-store.ts'

/** Returns the output of `proreus certs show`: subject, issuer, names, validity and fingerprint of each certificate. */
export async function describeCertificates(directory: string, now: number): Promise<string> {
  const files = await readCertificateFiles(directory)
  const blocks: string[] = []
  for (const name of [authorityFiles.cert, leafFiles.cert]) {
    const text = files[name]
    const path = join(directory, name)
    const certificates = text === undefined ? [] : readBundle(text)
    if (certificates.length === 0) blocks.push(`${path}: ${text === undefined ? 'missing' : 'damaged'}\n`)
    certificates.forEach((certificate, index) =>
      blocks.push(`${index === 0 ? path : `${path}, certificate ${index + 1}`}\n${describe(certificate, now)}`),
    )
  }
  if (isForeignPair(files))
    blocks.push(`There is no ${authorityFiles.key}: the certificate was issued elsewhere, and is not renewed here.\n`)
  return blocks.join('\n')
}

function describe(certificate: Certificate, now: number): string {
  const { x509, notBefore, notAfter, fingerprint } = certificate
  const days = Math.floor(Math.abs(notAfter - now) / 86_400_000)
  const remaining = now < notAfter ? `${days} days left` : `expired ${days} days ago`
  const lines = [
    ['subject', x509.subject],
    ['issuer', x509.issuer],
    ...(x509.subjectAltName === undefined ? [] : [['names', x509.subjectAltName]]),
    ['valid', `${new Date(notBefore).toISOString()} to ${new Date(notAfter).toISOString()} (${remaining})`],
    ['sha256', fingerprint],
  ]
  return lines.map(([label, value]) => `  ${label!.padEnd(8)} ${value!.replaceAll('\n', ', ')}\n`).join('')
}

/**
 * Returns the problems of the serving certificate in the folder, such as a wrong key, an untrusted signature or an expiry. A DNS name or IP
 * address in `names` that the certificate does not cover is also a problem. Each problem is one sentence.
 */
export async function verifyCertificates(
  directory: string,
  names: { readonly names: readonly string[]; readonly ips: readonly string[] },
  now: number,
): Promise<string[]> {
  const files = await readCertificateFiles(directory)
  const needed = [leafFiles.cert, leafFiles.key, ...(files[authorityFiles.key] ? [authorityFiles.cert] : [])]
  const missing = needed.filter((name) => !files[name])
  if (missing.length > 0) return missing.map((name) => `${join(directory, name)} is missing: \`proreus certs issue\` makes it.`)
  const path = join(directory, leafFiles.cert)
  const authorities = readBundle(files[authorityFiles.cert] ?? '')
  const chain = readBundle(files[leafFiles.cert]!)
  const pair = pairProblem(files[leafFiles.cert]!, files[leafFiles.key]!, now)
  const problems = pair === undefined ? [] : [`${path}: ${pair}.`]
  const [leaf, ...intermediates] = chain
  if (leaf === undefined) return problems
  const { trusted, source } = trustBundleOf(directory, files, chain)
  const authorityPath = join(directory, authorityFiles.cert)
  const isLate = (each: Certificate): boolean => timeProblem(each, now) !== undefined
  const timely = (certificates: readonly Certificate[]): Certificate[] => certificates.filter((each) => !isLate(each))
  // `isTrusted` ignores the validity times of certificates. Therefore, a second call omits the CAs that are not valid now, and a third call
  // also omits the intermediates that are not valid now. `pairProblem` has already checked the validity of the leaf.
  const lateAuthority = authorities.find(isLate)
  const late = intermediates.findIndex(isLate)
  if (!isTrusted(chain, trusted)) problems.push(`${path}: not signed by ${source}.`)
  else {
    if (lateAuthority !== undefined && !isTrusted(chain, timely(trusted)))
      problems.push(`${authorityPath}: ${timeProblem(lateAuthority, now)}.`)
    if (late >= 0 && !isTrusted([leaf, ...timely(intermediates)], timely(trusted)))
      problems.push(`${path}, certificate ${late + 2}: ${timeProblem(intermediates[late]!, now)}.`)
  }
  const uncovered = uncoveredNames(leaf, names)
  if (uncovered.length > 0) problems.push(`${path}: not for ${uncovered.join(', ')}.`)
  return problems
}
