/** Tests of the validation of certificates in the status of a CertificateSigningRequest. */
import t from 'tap'
import { issueAuthority } from '../../../../src/certs/issue.ts'
import { validateRequestUpdate } from '../../../../src/devcluster/resources/builtin/certificate-validation.ts'

function problems(pem: string): string[] {
  const status = { certificate: Buffer.from(pem).toString('base64') }
  return validateRequestUpdate({ status }, {}, 'status').map(({ message }) => message)
}

t.test('each PEM block is a certificate without headers', async (t) => {
  const { cert, key } = await issueAuthority(Date.now())
  t.strictSame(problems(`text\n${cert}text\n${cert}`), [])
  t.strictSame(problems(`-----BEGIN CERTIFICATE-----\n${cert}`), [], 'a block that does not end')
  t.match(problems(`${cert}${key}`), [/only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"$/])
  t.match(problems(cert.replace('\n', '\nA-B: c\n\n')), [/no PEM block headers are permitted$/])
  t.match(problems(key.replaceAll('PRIVATE KEY', 'CERTIFICATE')), [/asn1|wrong tag/])
  t.match(problems('text'), [/must contain at least one CERTIFICATE PEM block$/])
})

t.test('the time is linear in the number of blocks that do not end', async (t) => {
  t.match(problems('-----BEGIN A-----\n'.repeat(120_000)), [/must contain at least one/])
})
