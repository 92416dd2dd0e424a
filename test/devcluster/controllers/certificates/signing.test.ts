/** Tests of the validity of signed certificates. */
import t from 'tap'
import { certificates } from '../../../../src/api/kubernetes/certificates.ts'
import { readCertificate } from '../../../../src/certs/certificate.ts'
import { authorityLifeMs, issueAuthority } from '../../../../src/certs/issue.ts'
import { signingController } from '../../../../src/devcluster/controllers/certificates/signing.ts'
import { certificateRequests, requestField } from '../../../support/certs/certificate-requests.ts'
import { objectOf, runScripted } from '../../../support/devcluster/scripted-controller.ts'

const minute = 60_000
const hour = 60 * minute
const year = 365 * 24 * hour

t.test('a certificate is valid for ten minutes to a year, and never longer than its CA', async (t) => {
  const issuedAt = Date.parse('2026-01-01T00:00:00Z')
  const authority = await issueAuthority(issuedAt)
  const { notBefore: caStart, notAfter: caEnd } = readCertificate(authority.cert)
  t.equal(caEnd, issuedAt + authorityLifeMs)
  for (const [what, now, expirationSeconds, start, end] of [
    ['two years', issuedAt, 2 * 365 * 24 * 3600, issuedAt - 5 * minute, issuedAt + year - 5 * minute],
    ['no time', issuedAt, undefined, issuedAt - 5 * minute, issuedAt + year - 5 * minute],
    ['eight hours', issuedAt, 8 * 3600, issuedAt - 5 * minute, issuedAt + 8 * hour - 5 * minute],
    ['an hour', issuedAt, 3600, issuedAt - 5 * minute, issuedAt + hour],
    ['a minute', issuedAt, 60, issuedAt - 5 * minute, issuedAt + 10 * minute],
    ['an hour, by a clock that is behind', caStart + minute, 3600, caStart, caStart + minute + hour],
    ['a year, a day before the CA ends', caEnd - 24 * hour, year / 1000, caEnd - 24 * hour - 5 * minute, caEnd],
  ] as const) {
    const { clock, set, take } = runScripted(t, () => signingController(authority))
    clock.set(now)
    const request = requestField(certificateRequests.jane)
    const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'], expirationSeconds }
    const status = { conditions: [{ type: 'Approved', status: 'True' }] }
    set(certificates.certificateSigningRequest, objectOf('a', { spec, status }))
    const [[, , , patch] = []] = await take(1)
    const { certificate } = (patch as { status: { certificate: string } }).status
    const { notBefore, notAfter } = readCertificate(Buffer.from(certificate, 'base64').toString())
    const times = [notBefore, notAfter].map((time) => new Date(time))
    t.strictSame(times, [new Date(start), new Date(end)], `a request for ${what}`)
  }
})
