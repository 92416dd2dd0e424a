import t from 'tap'
import { parseListenAddress } from '../../src/manager/listen-address.ts'
import { formatListenAddress } from '../support/listen-address.ts'

t.test('addresses are parsed as Kubernetes writes them', async (t) => {
  const cases: [string, object | undefined][] = [
    [':8081', { port: 8081 }],
    [':0', { port: 0 }],
    ['127.0.0.1:8081', { host: '127.0.0.1', port: 8081 }],
    ['localhost:65535', { host: 'localhost', port: 65535 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['[fe80::1%eth0]:1', { host: 'fe80::1%eth0', port: 1 }],
    ['[::]:9', { host: '::', port: 9 }],
    ['0', undefined],
    ['', undefined],
  ]
  for (const [text, expected] of cases) {
    const address = parseListenAddress(text, '--x')
    t.strictSame(address, expected, text)
    if (address !== undefined) t.equal(formatListenAddress(address), text)
  }
})

t.test('any other address is refused with the flag and an example', async (t) => {
  for (const text of [
    '8081',
    'localhost',
    ':65536',
    '::1:80',
    ':http',
    '127.0.0.1:',
    '[::1]',
    ' :1',
    'http://a:1',
    ':000001',
    ':-1',
    '[]:1',
    'a:1b',
  ]) {
    const message = `--probe is "${text}", which is not an address: write it as :8081, 127.0.0.1:8081 or [::1]:8081, or 0 to switch it off.`
    t.throws(() => parseListenAddress(text, '--probe'), { code: 'PRO_CONFIG_INVALID', message }, text)
  }
})
