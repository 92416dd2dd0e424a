import t from 'tap'
import {
  addressBytes,
  validateAddress,
  validateEndpointAddress,
  validateRange,
} from '../../../../src/devcluster/resources/builtin/ip-addresses.ts'

const details = (errors: readonly { readonly message: string }[]): string[] => errors.map(({ message }) => message.replace(/^.*?": /, ''))

t.test('addresses are parsed with leading zeros, but not with a zone', async (t) => {
  t.strictSame(addressBytes('10.0.0.1'), [10, 0, 0, 1])
  t.strictSame(addressBytes('010.000.0.01'), [10, 0, 0, 1])
  t.strictSame(addressBytes('::ffff:1.2.3.4'), [1, 2, 3, 4])
  t.strictSame(addressBytes('2001:db8::1'), [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
  t.strictSame(addressBytes('::'), Array(16).fill(0))
  t.strictSame(addressBytes('1:2:3:4:5:6:7:8'), [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8])
  for (const text of ['', 'x', '1.2.3', '1.2.3.256', '1.2.3.4.5', 'fe80::1%eth0', ':::', '1.2.3.4/8'])
    t.equal(addressBytes(text), undefined)
})

t.test('an address is valid, or was before', async (t) => {
  for (const text of ['10.0.0.1', '::1', 'FE80::A', '2001:db8:0:0::1']) t.strictSame(validateAddress(text, 'p'), [])
  t.strictSame(details(validateAddress('x', 'p')), ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'])
  t.strictSame(details(validateAddress('010.0.0.1', 'p')), ['must not have leading 0s'])
  t.strictSame(details(validateAddress('::ffff:1.2.3.4', 'p')), ['must not be an IPv4-mapped IPv6 address'])
  t.strictSame(validateAddress('x', 'p', ['x']), [])
})

t.test('a range has no bits beyond its prefix', async (t) => {
  for (const text of ['10.0.0.0/8', '10.0.0.1/32', '0.0.0.0/0', '10.128.0.0/9', '::/0', '2001:db8::/32', '2001:db8::1/128'])
    t.strictSame(validateRange(text, 'p'), [], text)
  const none = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
  for (const text of ['x', '10.0.0.0', '10.0.0.0/33', '10.0.0.0/-1', '::/129', '/8', '10.0.0.0/'])
    t.strictSame(details(validateRange(text, 'p')), [none], text)
  for (const text of ['10.0.0.1/8', '10.64.0.0/9', '2001:db8::1/32'])
    t.strictSame(details(validateRange(text, 'p')), ['must not have bits set beyond the prefix length'], text)
  for (const text of ['010.0.0.0/8', '10.0.0.0/08'])
    t.strictSame(details(validateRange(text, 'p')), ['must not have leading 0s in IP or prefix length'], text)
  t.strictSame(details(validateRange('::ffff:1.2.3.0/120', 'p')), ['must not have an IPv4-mapped IPv6 address'])
  t.strictSame(validateRange('x', 'p', ['x']), [])
})

t.test('an address of an endpoint is reachable from other hosts', async (t) => {
  for (const text of ['10.0.0.1', '0.0.0.1', '2001:db8::1', '169.253.0.1', '224.0.1.1', 'fec0::1', 'ff01::1'])
    t.strictSame(validateEndpointAddress(text, 'p'), [], text)
  for (const [text, rule] of [
    ['0.0.0.0', 'may not be unspecified (0.0.0.0)'],
    ['::', 'may not be unspecified (::)'],
    ['127.1.2.3', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ['::1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ['169.254.9.9', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ['febf::1', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ['224.0.0.9', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
    ['ff12::1', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ] as const)
    t.strictSame(details(validateEndpointAddress(text, 'p')), [rule], text)
})
