import { EventEmitter } from 'node:events'
import type { Server } from 'node:net'
import t from 'tap'
import { listen, urlHost } from '../../src/runtime/listen.ts'

/**
 * A fake server. If `failures` contains an error code for a host, listening on this host fails with the error code. `tried` and `backlogs`
 * record the attempts.
 */
function fakeServer(failures: Record<string, string>): { server: Server; tried: string[]; backlogs: number[] } {
  const tried: string[] = []
  const backlogs: number[] = []
  const emitter = new EventEmitter()
  const server = Object.assign(emitter, {
    listen({ host, backlog }: { host: string; backlog: number }) {
      tried.push(host)
      backlogs.push(backlog)
      const code = failures[host]
      queueMicrotask(() =>
        code === undefined ? emitter.emit('listening') : emitter.emit('error', Object.assign(new Error(code), { code })),
      )
    },
    address: () => ({ port: 9443 }),
  })
  return { server: server as unknown as Server, tried, backlogs }
}

t.test('a machine without IPv6 listens on IPv4', async (t) => {
  for (const code of ['EAFNOSUPPORT', 'EADDRNOTAVAIL']) {
    const { server, tried } = fakeServer({ '::': code })
    t.equal(await listen(server, { port: 0 }), 9443)
    t.strictSame(tried, ['::', '0.0.0.0'])
  }
})

t.test('a given host is not replaced by another', async (t) => {
  const { server, tried } = fakeServer({ '::1': 'EAFNOSUPPORT' })
  await t.rejects(listen(server, { port: 9443, host: '::1' }), { code: 'PRO_CONFIG_INVALID' })
  t.strictSame(tried, ['::1'])
  t.strictSame([urlHost('::1'), urlHost('10.0.0.1')], ['[::1]', '10.0.0.1'])
})

t.test('an error names the address and the remedy', async (t) => {
  await t.rejects(listen(fakeServer({ '::': 'EADDRINUSE' }).server, { port: 9443 }), {
    code: 'PRO_PORT_IN_USE',
    message: /:9443 is in use/,
  })
  await t.rejects(listen(fakeServer({ '::': 'EACCES' }).server, { port: 443 }), { code: 'PRO_PERMISSION', message: /above 1023/ })
  await t.rejects(listen(fakeServer({ '::': 'EMFILE' }).server, { port: 443 }), {
    code: 'PRO_CONFIG_INVALID',
    message: /cannot listen on :443: EMFILE/,
  })
})

t.test('the port is that of the server, and no listener remains', async (t) => {
  for (const host of [undefined, '::', '0.0.0.0', '10.0.0.1', 'fd00::1']) {
    const { server, tried } = fakeServer({})
    t.equal(await listen(server, { host, port: 1 }), 9443)
    t.strictSame(tried, [host ?? '::'])
    t.strictSame([server.listenerCount('error'), server.listenerCount('listening')], [0, 0])
  }
  const { server } = fakeServer({ '::': 'EADDRINUSE' })
  await t.rejects(listen(server, { port: 1 }))
  t.strictSame([server.listenerCount('error'), server.listenerCount('listening')], [0, 0])
})

t.test('IPv4 alone is tried only on a machine without IPv6, and its failure is reported', async (t) => {
  const inUse = fakeServer({ '::': 'EADDRINUSE' })
  await t.rejects(listen(inUse.server, { port: 1 }), { code: 'PRO_PORT_IN_USE' })
  t.strictSame(inUse.tried, ['::'])
  const neither = fakeServer({ '::': 'EAFNOSUPPORT', '0.0.0.0': 'EACCES' })
  await t.rejects(listen(neither.server, { port: 1 }), { code: 'PRO_PERMISSION' })
  t.strictSame(neither.tried, ['::', '0.0.0.0'])
})

t.test('the kernel limits the number of connections that wait to be accepted', async (t) => {
  const { server, backlogs } = fakeServer({})
  await listen(server, { port: 9443, host: '127.0.0.1' })
  t.strictSame(backlogs, [65_535])
})

t.test('each cause has its code and names the address and the flag', async (t) => {
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
    ['EMFILE', 'PRO_CONFIG_INVALID', 'This process cannot listen on 127.0.0.1:80: EMFILE'],
  ] as const
  for (const [cause, code, message] of cases) {
    const listening = listen(fakeServer({ '127.0.0.1': cause }).server, { host: '127.0.0.1', port: 80, flag: '--x' })
    await t.rejects(listening, { code, message, cause: { code: cause } })
  }
})

t.test('an error without a host or a flag, and with IPv6', async (t) => {
  await t.rejects(listen(fakeServer({ '::': 'EADDRINUSE' }).server, { port: 1 }), {
    message: 'The address :1 is in use by another process: stop that one, or choose another address.',
  })
  await t.rejects(listen(fakeServer({ '::1': 'EADDRINUSE' }).server, { port: 1, host: '::1' }), {
    message: /^The address \[::1\]:1 is in use/,
  })
})
