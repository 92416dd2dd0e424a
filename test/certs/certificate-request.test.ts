/** Tests of the parser of certificate requests. */
import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { readCertificateRequest } from '../../src/certs/certificate-request.ts'
import { readDer } from '../../src/certs/der-reader.ts'
import { certificateRequests } from '../support/certs/certificate-requests.ts'
import { certificateRequest } from '../support/certs/new-certificate-request.ts'
import { Dice } from '../support/dice.ts'
import { seed } from '../support/seed.ts'

const { jane, node, serving, rsa, ed, alt } = certificateRequests

t.test('the subject and the alternative names of a request are read', (t) => {
  const none = { dnsNames: [], emails: [], ips: [], uris: [] }
  for (const [pem, expected] of [
    [jane, { commonName: 'jane', organizations: ['team'], ...none }],
    [node, { commonName: 'system:node:one', organizations: ['system:nodes'], ...none }],
    [rsa, { commonName: 'rsa', organizations: ['a', 'b'], ...none }],
    [ed, { commonName: 'ed', organizations: [], ...none }],
    [
      serving,
      {
        commonName: 'system:node:one',
        organizations: ['system:nodes'],
        ...none,
        dnsNames: ['one.example.com'],
        ips: [Buffer.from([10, 0, 0, 1])],
      },
    ],
    [alt, { commonName: '', organizations: [], ...none, emails: ['a@b.c'], uris: ['https://x/y'] }],
  ] as const) {
    const { subject: _subject, spki: _spki, ...found } = readCertificateRequest(pem)
    t.strictSame(found, expected)
  }
  t.end()
})

t.test('what is not a signed request is refused', (t) => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const forged = certificateRequest({ commonName: 'a', organization: 'b', privateKey, publicKey })
  for (const [pem, message] of [
    ['', 'PEM block type must be CERTIFICATE REQUEST'],
    ['text', 'PEM block type must be CERTIFICATE REQUEST'],
    [jane.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'), 'PEM block type must be CERTIFICATE REQUEST'],
    [jane.replace(/\n[A-Za-z0-9+/=]+\n-----END/, '\n-----END'), 'asn1: syntax error: data truncated'],
    [forged, 'x509: invalid signature'],
  ] as const)
    t.throws(() => readCertificateRequest(pem), { message })
  t.end()
})

t.test('damaged requests are refused with an error', (t) => {
  const dice = new Dice(seed)
  const der = Buffer.from(serving.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  for (let round = 0; round < 500; round += 1) {
    const damaged = Buffer.from(der)
    damaged[dice.upTo(damaged.length - 1)] = dice.upTo(255)
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${damaged.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
    if (damaged.equals(der)) continue
    t.throws(() => readCertificateRequest(pem), Error, `round ${round}`)
  }
  t.end()
})

t.test('lengths beyond the end, and lengths and tags that DER does not have, are refused', (t) => {
  for (const [hex, message] of [
    ['', 'asn1: syntax error: trailing data'],
    ['30', 'asn1: syntax error: data truncated'],
    ['3001', 'asn1: syntax error: data truncated'],
    ['3084ffffffff', 'asn1: syntax error: data truncated'],
    ['3082', 'asn1: syntax error: data truncated'],
    ['3080', 'asn1: structure error: a length is not supported'],
    ['308500000000', 'asn1: structure error: a length is not supported'],
    ['1f00', 'asn1: structure error: a tag number is not supported'],
    ['30000500', 'asn1: syntax error: trailing data'],
  ] as const)
    t.throws(() => readDer(Buffer.from(hex, 'hex')), { message }, hex)
  t.end()
})
