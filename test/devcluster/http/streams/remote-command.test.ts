/** Tests of exec and attach: authorization, errors before the upgrade, and the versions of the protocols over WebSocket and SPDY. */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import t from 'tap'
import type { Grant } from '../../../../src/devcluster/access/authorizer.ts'
import type { RequestRecord } from '../../../../src/devcluster/http/handle.ts'
import { until } from '../../../../src/testing/until.ts'
import { bob } from '../../../support/devcluster/http-server.ts'
import { recordingLogger } from '../../../support/recording-logger.ts'
import type { ChannelClient } from '../../../support/devcluster/stream-server.ts'
import { startStreamServer } from '../../../support/devcluster/stream-server.ts'

const grant = (...verbs: readonly string[]): Grant => ({
  user: 'bob',
  rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: [...verbs] }],
})
const spdy = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }
const webSocket = { upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': Buffer.alloc(16).toString('base64') }
/** The path of an exec that runs a shell script. */
const sh = (script: string, query = 'stdout=1&stderr=1'): string =>
  `p/exec?${query}&command=sh&command=-c&command=${encodeURIComponent(script)}`

t.test('a GET needs the permission to create, too', async (t) => {
  for (const [verbs, code] of [
    [['get'], 403],
    [['create'], 403],
    [['get', 'create'], 400],
  ] as const) {
    const { upgrade } = await startStreamServer(t, { grants: [grant(...verbs)] })
    const refused = await upgrade('p/exec?stdout=1', { upgrade: 'x' }, { method: 'GET', token: bob })
    t.match(refused, { code }, verbs.join())
    if (verbs[0] === 'get' && code === 403) t.match(refused, { status: { reason: 'Forbidden', message: 'pods "p" is forbidden: ' } })
  }
  const { upgrade } = await startStreamServer(t, { grants: [grant('create')] })
  t.match(await upgrade('p/exec?stdout=1', { upgrade: 'x' }, { method: 'POST', token: bob }), { code: 400 })
  t.match(await upgrade('p/exec', spdy, { token: 'wrong' }), { code: 401 })
})

t.test('errors before the upgrade are ordinary responses', async (t) => {
  const records: RequestRecord[] = []
  const { upgrade, send, containers } = await startStreamServer(t, { onRequest: (record) => records.push(record) })
  const choice = 'a container name must be specified for pod several, choose one of: [init a b debugger]'
  for (const [path, headers, code, message] of [
    ['other/exec?stdout=1&command=ls', spdy, 404, 'pods "other" not found'],
    ['several/exec?stdout=1&command=ls', spdy, 400, choice],
    ['several/attach?stdout=1', spdy, 400, choice],
    ['p/attach?container=x&stdout=1', spdy, 400, 'container x is not valid for pod p'],
    ['unscheduled/exec?stdout=1&command=ls', spdy, 400, 'pod unscheduled does not have a host assigned'],
    ['p/exec?command=ls', spdy, 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['p/exec?stderr=1&tty=1&command=ls', spdy, 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['p/exec?stdout=1', spdy, 400, 'you must specify a command'],
    ['p/exec?stdout=1&command=ls', { upgrade: 'h2c' }, 400, /^unable to upgrade: the protocol "h2c" is not supported/],
    [
      'p/exec?stdout=1&command=ls',
      { upgrade: 'SPDY/3.1' },
      403,
      /^unable to upgrade: unable to negotiate protocol: client supports \[\], /,
    ],
    [
      'p/exec?stdout=1&command=ls',
      { ...spdy, 'x-stream-protocol-version': 'v5.channel.k8s.io,v9' },
      403,
      /client supports \[v5\.channel\.k8s\.io v9\], server accepts \[v4\.channel\.k8s\.io v3\.channel\.k8s\.io v2\.channel\.k8s\.io channel\.k8s\.io\]$/,
    ],
    ['p/exec?stdout=1&command=ls', { ...webSocket, 'sec-websocket-protocol': 'v2.channel.k8s.io' }, 403, /unable to negotiate protocol/],
    [
      'p/exec?stdout=1&command=ls',
      { ...webSocket, 'sec-websocket-key': 'x' },
      400,
      'unable to upgrade: Missing or invalid Sec-WebSocket-Key header',
    ],
  ] as const)
    t.match(
      await upgrade(path, headers, { method: headers.upgrade === 'websocket' ? 'GET' : 'POST' }),
      { code, status: { code, message } },
      `${path} ${String(message)}`,
    )
  const plain = await send('/api/v1/namespaces/default/pods/p/exec?stdout=1&command=ls', { method: 'POST' })
  t.match(plain, { code: 400, json: { message: 'Upgrade request required' } })
  const { headers } = (await upgrade('p/exec?stdout=1&command=ls', { upgrade: 'SPDY/3.1' })) as { headers: Record<string, string> }
  t.match(headers['x-accepted-stream-protocol-versions'], /^v4\.channel\.k8s\.io, /)
  t.strictSame(containers.sessions, [])
  t.match(records.at(-1), { code: 403, verb: 'create' })
})

for (const version of ['v4.channel.k8s.io', 'v5.channel.k8s.io', 'channel.k8s.io', ''])
  t.test(`a WebSocket of the version ${JSON.stringify(version)} has the output and the result of a command`, async (t) => {
    const records: RequestRecord[] = []
    const { webSocket, containers } = await startStreamServer(t, { onRequest: (record) => records.push(record) })
    const open = (script: string): Promise<ChannelClient> => webSocket(sh(script), version === '' ? [] : ['v9.unknown', version])
    const failed = await open('echo out; echo err >&2; exit 7')
    t.equal(failed.socket.protocol, version)
    t.equal(await failed.closed, 1000)
    t.strictSame([failed.received.get(1), failed.received.get(2)], ['out\n', 'err\n'])
    const message = 'command terminated with non-zero exit code: exit status 7'
    if (/^v/.test(version))
      t.match(JSON.parse(failed.received.get(3) ?? ''), {
        status: 'Failure',
        reason: 'NonZeroExitCode',
        message,
        details: { causes: [{ reason: 'ExitCode', message: '7' }] },
      })
    else t.equal(failed.received.get(3), message)
    t.equal(failed.messages[0], '\u0001', 'the first message is empty')
    const succeeded = await open('exit 0')
    await succeeded.closed
    if (/^v/.test(version)) t.match(JSON.parse(succeeded.received.get(3) ?? ''), { status: 'Success' })
    else t.equal(succeeded.received.get(3), undefined)
    t.strictSame(
      containers.sessions.map(({ isClosed }) => isClosed),
      [true, true],
    )
    t.match(containers.sessions[0], { target: { pod: 'p', uid: 'a-uid', container: 'main' } })
    await until('the requests are recorded', () => records.length === 2)
    t.match(records, [
      { code: 101, verb: 'get', user: 'admin' },
      { code: 101, verb: 'get', user: 'admin' },
    ])
  })

for (const version of ['base64.channel.k8s.io', 'v4.base64.channel.k8s.io'])
  t.test(`the messages of ${version} are text`, async (t) => {
    const { webSocket } = await startStreamServer(t)
    const client = await webSocket(sh('read line; echo "<$line>"', 'stdin=1&stdout=1'), [version])
    client.socket.send(`0${Buffer.from('hello\n').toString('base64')}`)
    await client.closed
    const [first, second] = client.messages
    t.strictSame([first, second], ['1', `1${Buffer.from('<hello>\n').toString('base64')}`])
  })

t.test('the close signal of version 5 ends stdin, and other versions have none', async (t) => {
  const { webSocket, containers } = await startStreamServer(t)
  const five = await webSocket(sh('cat; echo done', 'stdin=1&stdout=1'), ['v5.channel.k8s.io'])
  five.send(0, 'hello ')
  five.socket.send(Buffer.of(255, 0))
  five.send(0, 'too late')
  t.equal(await five.closed, 1000)
  t.equal(five.received.get(1), 'hello done\n')
  const four = await webSocket(sh('cat', 'stdin=1&stdout=1'), ['v4.channel.k8s.io'])
  four.socket.send(Buffer.of(255, 0))
  four.send(0, 'hello')
  await until('the echo arrives', () => four.received.get(1) === 'hello')
  four.socket.close()
  await until('the session is closed', () => containers.sessions[1]?.isClosed)
  const malformed = await webSocket(sh('cat', 'stdin=1&stdout=1'), ['v5.channel.k8s.io'])
  malformed.socket.send(Buffer.of(255))
  t.equal(await malformed.closed, 1002)
  await until('the session is closed', () => containers.sessions[2]?.isClosed)
})

t.test('a client resizes its terminal, and invalid sizes are ignored', async (t) => {
  const { webSocket, containers } = await startStreamServer(t)
  const client = await webSocket('p/exec?stdin=1&stdout=1&stderr=1&tty=1&command=cat')
  client.send(4, '{"Width":80,"Height":24}\n{"width":100,')
  client.send(4, '"height":50}{"Width":-1,"Height":24}{"Width":70000,"Height":1}[]{"Width":"1","Height":2}')
  client.send(4, 'x'.repeat(2000))
  client.send(4, '{"Width":1,"Height":2}')
  await until('all sizes arrive', () => containers.sessions[0]?.sizes.length === 3)
  t.strictSame(containers.sessions[0]?.sizes, ['80x24', '100x50', '1x2'])
  t.match(containers.sessions[0]?.request, { tty: true, stdin: true, command: ['cat'] })
  client.socket.terminate()
  await until('the session is closed', () => containers.sessions[0]?.isClosed)
})

t.test('an error after the upgrade is sent on the error channel', async (t) => {
  const { logger, lines } = recordingLogger()
  const { webSocket, containers } = await startStreamServer(t, { logger })
  const missing = await webSocket('p/exec?stdout=1&command=/no/such/program')
  await missing.closed
  t.match(JSON.parse(missing.received.get(3) ?? ''), { status: 'Failure', reason: 'InternalError', message: /executable file not found/ })
  const waiting = await webSocket('p/attach?stdout=1', ['channel.k8s.io'])
  await waiting.closed
  t.equal(waiting.received.get(3), 'container "main" in pod "p" is waiting to start: ContainerCreating')
  t.strictSame(lines, [])
  containers.exec = () => Promise.reject(new Error('out of order'))
  const broken = await webSocket('p/exec?stdout=1&command=ls')
  await broken.closed
  t.match(JSON.parse(broken.received.get(3) ?? ''), {
    message: 'Internal error occurred: error executing command in container: out of order',
  })
  t.strictSame(lines, ['error: a command in a container failed'])
})

t.test('a message of very many fragments closes the connection, because each fragment is held in memory', async (t) => {
  const { webSocket, containers } = await startStreamServer(t)
  const client = await webSocket(sh('cat', 'stdin=1&stdout=1'), ['v5.channel.k8s.io'])
  for (let count = 0; count <= 16 * 1024; count += 1) client.socket.send('x', { binary: true, fin: false })
  t.equal(await client.closed, 1008)
  await until('the session is closed', () => containers.sessions[0]?.isClosed)
})

t.test('attach has the streams of the container, ends with it, and succeeds whatever its exit code is', async (t) => {
  const { webSocket, containers } = await startStreamServer(t)
  const exited = Promise.withResolvers<number>()
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  containers.attached = () => ({ stdin, stdout, stderr, exited: exited.promise })
  const client = await webSocket('several/attach?container=b&stdin=1&stdout=1&stderr=1')
  stdout.write('hello')
  stderr.write('oops')
  await until('output arrives', () => client.received.get(1) === 'hello' && client.received.get(2) === 'oops')
  client.send(0, 'input')
  const [input] = (await once(stdin, 'data')) as [Buffer]
  t.equal(input.toString(), 'input')
  stdout.end()
  stderr.end()
  exited.resolve(3)
  t.equal(await client.closed, 1000)
  t.match(JSON.parse(client.received.get(3) ?? ''), { status: 'Success' })
  t.match(containers.sessions[0], { isClosed: true, request: { tty: true, stdin: true }, target: { container: 'b' } })
})

t.test('output that the client does not want is dropped, and input that the process does not read, too', async (t) => {
  const { webSocket, containers } = await startStreamServer(t)
  const client = await webSocket(sh('head -c 3000000 /dev/zero; exec 0<&-; echo closed >&2; exec sleep 1000', 'stdin=1&stderr=1'))
  await until('stdin is closed', () => client.received.get(2) === 'closed\n')
  for (let index = 0; index < 40; index += 1) client.send(0, 'x'.repeat(50_000))
  client.socket.ping()
  // The server sends the pong after it has read the earlier messages.
  await once(client.socket, 'pong')
  t.equal(client.received.get(1), undefined)
  client.socket.terminate()
  await until('the session is closed', () => containers.sessions[0]?.isClosed)
})

const headers = (streamType: string) => ({ streamType })

for (const version of ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'])
  t.test(`SPDY of the version ${version} has the output and the result of a command`, async (t) => {
    const { spdy, containers } = await startStreamServer(t)
    const client = await spdy(sh('cat; echo err >&2; exit 7', 'stdin=1&stdout=1&stderr=1'), version)
    const [error, stdin, stdout, stderr] = ['error', 'stdin', 'stdout', 'stderr'].map((type) => client.open(headers(type)))
    t.strictSame([error, stdin, stdout, stderr], [1, 3, 5, 7])
    client.send(3, 'hello')
    client.end(3)
    await client.until('closed')
    t.strictSame(client.events.slice(0, 4), ['reply 1 0', 'reply 3 0', 'reply 5 0', 'reply 7 0'])
    t.strictSame([client.received.get(5), client.received.get(7)], ['hello', 'err\n'])
    t.ok([1, 5, 7].every((id) => client.ended.has(id)))
    t.ok(client.events.includes('goaway 0'))
    const result = client.received.get(1) ?? ''
    if (version === 'v4.channel.k8s.io') t.match(JSON.parse(result), { reason: 'NonZeroExitCode', details: { causes: [{ message: '7' }] } })
    else t.equal(result, 'command terminated with non-zero exit code: exit status 7')
    await until('the session is closed', () => containers.sessions[0]?.isClosed)
  })

t.test('a terminal over SPDY has a stream for its sizes since version 3', async (t) => {
  const { spdy, containers } = await startStreamServer(t)
  const path = 'p/exec?stdin=1&stdout=1&tty=1&command=cat'
  const three = await spdy(path, 'v3.channel.k8s.io')
  for (const type of ['error', 'stdin', 'stdout']) three.open(headers(type))
  await three.until('reply 5 0')
  t.strictSame(containers.sessions, [], 'the command starts after the last stream')
  three.send(three.open(headers('resize')), '{"Width":80,"Height":24}')
  await until('the size arrives', () => containers.sessions[0]?.sizes.includes('80x24'))
  const two = await spdy(path, 'v2.channel.k8s.io')
  for (const type of ['error', 'stdin', 'stdout']) two.open(headers(type))
  await until('the command starts', () => containers.sessions.length === 2)
  three.socket.destroy()
  two.socket.destroy()
  await until('both sessions are closed', () => containers.sessions.every(({ isClosed }) => isClosed))
})

t.test('a client that opens unknown or repeated streams is refused them', async (t) => {
  const { spdy } = await startStreamServer(t)
  const client = await spdy(sh('cat', 'stdin=1&stdout=1'), 'v4.channel.k8s.io')
  client.open(headers('error'))
  client.open(headers('error'))
  client.open(headers('__proto__'))
  client.open({})
  await client.until('reset 7 3')
  t.strictSame(client.events, ['reply 1 0', 'reset 3 3', 'reset 5 3', 'reset 7 3'])
})
