import { EventEmitter } from 'node:events'
import type { Server } from 'node:https'
import t from 'tap'
import { listen } from '../../src/webhook/listen.ts'

/** A server on a machine where listening fails with the code that `failures` names for a host. */
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

t.test('takes IPv4 alone where there is no IPv6', async (t) => {
  for (const code of ['EAFNOSUPPORT', 'EADDRNOTAVAIL']) {
    const { server, tried } = fakeServer({ '::': code })
    t.strictSame(await listen(server, 9443, undefined), { port: 9443, url: 'https://localhost:9443' })
    t.strictSame(tried, ['::', '0.0.0.0'])
  }
})

t.test('a host that was asked for is not replaced', async (t) => {
  const { server, tried } = fakeServer({ '::1': 'EAFNOSUPPORT' })
  await t.rejects(listen(server, 9443, '::1'), { code: 'PRO_CONFIG_INVALID' })
  t.strictSame(tried, ['::1'])
  t.equal((await listen(fakeServer({}).server, 1, '::1')).url, 'https://[::1]:9443')
})

t.test('what is wrong is said in one sentence', async (t) => {
  await t.rejects(listen(fakeServer({ '::': 'EADDRINUSE' }).server, 9443, undefined), {
    code: 'PRO_PORT_IN_USE',
    message: /:9443 is in use/,
  })
  await t.rejects(listen(fakeServer({ '::': 'EACCES' }).server, 443, undefined), { code: 'PRO_PERMISSION', message: /above 1023/ })
  await t.rejects(listen(fakeServer({ '::': 'EMFILE' }).server, 443, undefined), {
    code: 'PRO_CONFIG_INVALID',
    message: /cannot listen on :443: EMFILE/,
  })
})

t.test('what is listened on is said as a URL; listeners that waited for it are gone', async (t) => {
  for (const [host, url] of [
    [undefined, 'https://localhost:9443'],
    ['::', 'https://localhost:9443'],
    ['0.0.0.0', 'https://localhost:9443'],
    ['10.0.0.1', 'https://10.0.0.1:9443'],
    ['fd00::1', 'https://[fd00::1]:9443'],
  ] as const) {
    const { server, tried } = fakeServer({})
    t.strictSame(await listen(server, 1, host), { port: 9443, url })
    t.strictSame(tried, [host ?? '::'])
    t.strictSame([server.listenerCount('error'), server.listenerCount('listening')], [0, 0])
  }
  const { server } = fakeServer({ '::': 'EADDRINUSE' })
  await t.rejects(listen(server, 1, undefined))
  t.strictSame([server.listenerCount('error'), server.listenerCount('listening')], [0, 0])
})

t.test('IPv4 is tried only where there is no IPv6, and when it fails, too, that is said', async (t) => {
  const inUse = fakeServer({ '::': 'EADDRINUSE' })
  await t.rejects(listen(inUse.server, 1, undefined), { code: 'PRO_PORT_IN_USE' })
  t.strictSame(inUse.tried, ['::'])
  const neither = fakeServer({ '::': 'EAFNOSUPPORT', '0.0.0.0': 'EACCES' })
  await t.rejects(listen(neither.server, 1, undefined), { code: 'PRO_PERMISSION' })
  t.strictSame(neither.tried, ['::', '0.0.0.0'])
})

t.test('leaves it to the kernel how many connections may wait to be accepted', async (t) => {
  const { server, backlogs } = fakeServer({})
  await listen(server, 9443, '127.0.0.1')
  t.strictSame(backlogs, [65_535])
})
