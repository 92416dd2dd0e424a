import t from 'tap'
import { proxyFromEnvironment } from '../../src/client/proxy-from-environment.ts'

const proxy = 'http://proxy:3128'

t.test('the variable for the scheme of the server is used, in upper case first', async (t) => {
  for (const [server, env, expected] of [
    ['https://api.example.com', { HTTPS_PROXY: proxy, HTTP_PROXY: 'http://other' }, proxy],
    ['http://api.example.com', { HTTPS_PROXY: 'http://other', HTTP_PROXY: proxy }, proxy],
    ['https://api.example.com', { HTTP_PROXY: proxy }, undefined],
    ['https://api.example.com', { https_proxy: proxy }, proxy],
    ['http://api.example.com', { http_proxy: proxy }, proxy],
    ['https://api.example.com', { HTTPS_PROXY: proxy, https_proxy: 'http://lower' }, proxy],
    ['https://api.example.com', { HTTPS_PROXY: '', https_proxy: proxy }, proxy],
    ['https://api.example.com', { HTTPS_PROXY: 'proxy:3128' }, proxy],
    ['https://api.example.com', { HTTPS_PROXY: 'socks5://proxy:1080' }, 'socks5://proxy:1080'],
    ['https://api.example.com', { HTTPS_PROXY: ' ' }, undefined],
    ['https://api.example.com', {}, undefined],
    ['not a URL', { HTTPS_PROXY: proxy }, undefined],
  ] as const) {
    t.equal(proxyFromEnvironment(server, env), expected, JSON.stringify([server, env]))
  }
})

t.test('a loopback address is never proxied', async (t) => {
  for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.1.2.3', '[::1]'])
    t.equal(proxyFromEnvironment(`https://${host}:6443`, { HTTPS_PROXY: proxy }), undefined, host)
  for (const host of ['localhost.example.com', '128.0.0.1', '[::2]'])
    t.equal(proxyFromEnvironment(`https://${host}:6443`, { HTTPS_PROXY: proxy }), proxy, host)
})

const cases: readonly [noProxy: string, excluded: readonly string[], proxied: readonly string[]][] = [
  ['example.com', ['example.com', 'api.example.com', 'API.EXAMPLE.COM:6443'], ['badexample.com', 'example.com.evil', 'example.org']],
  ['.example.com', ['api.example.com', 'a.b.example.com'], ['example.com', 'badexample.com']],
  ['*.example.com', ['api.example.com'], ['example.com']],
  ['example.com:6443', ['example.com:6443', 'api.example.com:6443'], ['example.com', 'example.com:443']],
  ['example.com:443', ['example.com'], ['example.com:6443']],
  ['*', ['example.com', '10.0.0.1'], []],
  ['10.0.0.0/8', ['10.1.2.3', '10.1.2.3:6443'], ['11.0.0.1', 'example.com']],
  ['10.96.0.1', ['10.96.0.1', '10.96.0.1:6443'], ['10.96.0.2']],
  ['10.96.0.1:6443', ['10.96.0.1:6443'], ['10.96.0.1']],
  ['fd00::/8', ['[fd00::1]', '[fd12::1]:6443'], ['[fe80::1]', '10.0.0.1']],
  ['fd00::1', ['[fd00::1]'], ['[fd00::2]']],
  ['[fd00::1]:6443', ['[fd00::1]:6443'], ['[fd00::1]']],
  [' a.example.com , ,EXAMPLE.org,', ['a.example.com', 'example.org'], ['b.example.com']],
  ['', [], ['example.com']],
  ['10.0.0.0/33,10.0.0.0/,x/8,10.0.0.0/8/8x,:443', [], ['x', 'example.com', '11.0.0.1']],
]
for (const [noProxy, excluded, proxied] of cases) {
  t.test(`NO_PROXY=${noProxy}`, async (t) => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      const env = { HTTPS_PROXY: proxy, [name]: noProxy }
      for (const host of excluded) t.equal(proxyFromEnvironment(`https://${host}`, env), undefined, host)
      for (const host of proxied) t.equal(proxyFromEnvironment(`https://${host}`, env), proxy, host)
    }
  })
}
