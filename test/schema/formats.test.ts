import t from 'tap'
import { formatOf } from '../../src/schema/formats.ts'
import { processorTimeMs } from '../support/turns.ts'

/** Which of the texts are of a format, as kube-apiserver 1.36 has it. */
const cases: Readonly<Record<string, { readonly valid: readonly string[]; readonly invalid: readonly string[] }>> = {
  bsonobjectid: { valid: ['507f1f77bcf86cd799439011'], invalid: ['507f1f77bcf86cd79943901', 'zzzf1f77bcf86cd799439011'] },
  uri: {
    valid: [
      'http://a.b/c?d#e',
      '/a/b',
      '*',
      'a:b',
      'http://u:p@h:1/',
      'http://[::1]:80/',
      'http://[::1%25eth0]/',
      'urn:x:%zz',
      'http://é/',
      '//a/b',
      'http://',
    ],
    invalid: [
      '',
      'a',
      ':x',
      '/a\n',
      '/%zz',
      'http://a b/',
      'http://a:b',
      'http://a:80:80/',
      'http://[::1',
      'http://u ser@h',
      '#a',
      'http://h%zz',
    ],
  },
  email: {
    valid: ['a@b', 'A B <a@b.c>', '"x y"@b.c', '<a@b>', 'é@b.c', '"A, B" <a@b>', 'a@[1.2.3.4]', ' a@b ', 'a@b (c)'],
    invalid: ['', 'a b@c', 'a@', '@b', 'a@b@c', 'a..b@c', '.a@b', 'a@[x]', 'a @b', 'a@b,', 'a@b>'],
  },
  hostname: {
    valid: ['a', 'a-b.cd', 'example.com', '1.2.com', 'é.com', '👍.com', 'A.COM'],
    invalid: ['', '-a', 'a..b', '.a', 'a_b', 'a.b', 'a.b-c', '1.2.3.4', `${'a'.repeat(64)}.com`],
  },
  ipv4: { valid: ['1.2.3.4', '01.2.3.4', '::ffff:1.2.3.4'], invalid: ['1.2.3', '256.1.1.1', '::1', '1.2.3.4 '] },
  ipv6: { valid: ['::1', '::', 'fe80::1', '::ffff:1.2.3.4'], invalid: ['1.2.3.4', ':::', 'fe80::1%eth0', '1:2:3:4:5:6:7:8:9'] },
  cidr: {
    valid: ['1.2.3.4/8', '1.2.3.4/32', '::/0', '::1/128', '1.2.3.4/08'],
    invalid: ['1.2.3.4', '1.2.3.4/33', '::/129', '/8', '1.2.3.4/+8', 'fe80::1%a/64'],
  },
  mac: {
    valid: ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab', '01:23:45:67:89:ab:cd:ef'],
    invalid: ['01:23:45:67:89', '01:23-45:67:89:ab', '0123.4567', '1:2:3:4:5:6'],
  },
  uuid: {
    valid: ['00000000-0000-0000-0000-000000000000', 'ABCDEFABCDEFABCDEFABCDEFABCDEFAB'],
    invalid: ['0000000-0000-0000-0000-000000000000'],
  },
  uuid3: { valid: ['00000000-0000-3000-0000-000000000000'], invalid: ['00000000-0000-4000-8000-000000000000'] },
  uuid4: { valid: ['00000000-0000-4000-8000-000000000000'], invalid: ['00000000-0000-4000-7000-000000000000'] },
  uuid5: { valid: ['00000000-0000-5000-b000-000000000000'], invalid: ['00000000-0000-4000-8000-000000000000'] },
  isbn: { valid: ['0321751043', '978-0321751041', '080442957X'], invalid: ['0321751044', '9780321751042', ''] },
  isbn10: { valid: ['0 8044 2957 X'], invalid: ['9780321751041'] },
  isbn13: { valid: ['978-0321751041'], invalid: ['0321751043'] },
  creditcard: { valid: ['4111-1111-1111-1111', 'x5500000000000004y'], invalid: ['4111111111111112', '1'] },
  ssn: { valid: ['111-22-3333', '111 22 3333'], invalid: ['111223333', '111-22-333'] },
  hexcolor: { valid: ['#fff', 'FFFFFF'], invalid: ['#ffff', ''] },
  rgbcolor: { valid: ['rgb(0,0,0)', 'rgb( 255 , 2,3 )'], invalid: ['rgb(256,0,0)', 'rgb(01,2,3)', 'rgb(1,2)'] },
  byte: { valid: ['YQ==', 'YWE=', 'YWFh'], invalid: ['', 'YQ=', 'Y===', '_-==', 'YQ==\n'] },
  password: { valid: ['', 'x'], invalid: [] },
  date: {
    valid: ['2020-02-29', '2000-02-29', '0000-01-01'],
    invalid: ['2019-02-29', '2100-02-29', '2020-13-01', '2020-1-1', '2020-04-31', ''],
  },
  'date-time': {
    valid: ['2020-01-01T00:00:00Z', '2020-01-01t00:00:00z', '2020-01-01T00:00:00.123+01:00'],
    invalid: [
      '2020-01-01T24:00:00Z',
      '2020-01-01T23:59:60Z',
      '2020-01-01 00:00:00Z',
      '2020-01-01T00:00:00',
      '2020-02-30T00:00:00Z',
      '',
      'T',
    ],
  },
  datetime: { valid: ['2020-01-01T00:00:00Z'], invalid: ['x'] },
  duration: {
    valid: ['1h30m', '-1.5h', '.5s', '0', '1µs', '22 ns', '1 day', '3 hours 5 minutes', '2 weeks', '9223372036854775807ns'],
    invalid: ['', '1', 'h', '1 fortnight', '99999999999999999999h', '9223372036854775808ns'],
  },
  'k8s-short-name': { valid: ['a', 'a-b', '0'], invalid: ['', 'A', '-a', 'a.b', 'a'.repeat(64)] },
  'k8s-long-name': { valid: ['a.b', 'a'.repeat(253)], invalid: ['', 'a..b', 'a.b-', 'a'.repeat(254)] },
}

for (const [name, { valid, invalid }] of Object.entries(cases)) {
  t.test(name, async (t) => {
    const format = formatOf(name)!
    t.equal(format.name, name)
    for (const text of valid) t.ok(format.test(text), `${JSON.stringify(text.slice(0, 60))} is one`)
    for (const text of invalid) t.notOk(format.test(text), `${JSON.stringify(text.slice(0, 60))} is none`)
  })
}

t.test('a format that the API server does not know is none', async (t) => {
  for (const name of ['int32', 'uri-reference', 'json-pointer', 'semver', '', undefined]) t.equal(formatOf(name), undefined)
})

t.test('no text takes longer than its length', async (t) => {
  for (const name of Object.keys(cases)) {
    const format = formatOf(name)!
    const started = processorTimeMs()
    for (const unit of ['1', 'a', ' ', '.', '%', '1a', '1 ', ':', '"', 'YWFh']) {
      for (const [before, after] of [
        ['', ''],
        ['http://', '!'],
        ['a@b <', '>'],
      ] as const)
        format.test(before + unit.repeat(100_000) + after)
    }
    t.ok(processorTimeMs() - started < 5000, name)
  }
})
