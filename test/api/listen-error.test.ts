import t from 'tap'
import { listenError } from '../../src/api/listen-error.ts'

const errno = (code: string): Error => Object.assign(new Error(`listen ${code}`), { code })

t.test('each cause has its code and names the address and the flag', (t) => {
  const cases = [
    [
      'EADDRINUSE',
      'PRO_PORT_IN_USE',
      'The address 127.0.0.1:80 is in use by another process: stop that one, or choose another address with --x.',
    ],
    ['EACCES', 'PRO_PERMISSION', 'This user may not listen on 127.0.0.1:80: choose a port above 1023 with --x.'],
    [
      'EADDRNOTAVAIL',
      'PRO_CONFIG_INVALID',
      'This process cannot listen on 127.0.0.1:80, for this machine has no such address: choose another one with --x.',
    ],
    ...['EAFNOSUPPORT', 'ENOTFOUND'].map(
      (code) =>
        [
          code,
          'PRO_CONFIG_INVALID',
          'This process cannot listen on 127.0.0.1:80, for this machine has no such address: choose another one with --x.',
        ] as const,
    ),
    ['EMFILE', 'PRO_CONFIG_INVALID', 'This process cannot listen on 127.0.0.1:80: listen EMFILE'],
  ] as const
  for (const [cause, code, message] of cases) {
    const error = errno(cause)
    const told = listenError(error, { host: '127.0.0.1', port: 80, flag: '--x' })
    t.strictSame([told.code, told.message, told.cause], [code, message, error])
  }
  t.end()
})

t.test('without a host or a flag, and with IPv6', (t) => {
  const text = (host?: string): string => listenError(errno('EADDRINUSE'), { host, port: 1 }).message
  t.equal(text(), 'The address :1 is in use by another process: stop that one, or choose another address.')
  t.match(text('::1'), 'The address [::1]:1 is in use')
  t.match(listenError('what', { port: 1 }), { code: 'PRO_CONFIG_INVALID', message: 'This process cannot listen on :1: what' })
  t.end()
})
