/**
 * Tests that an embedded cluster limits the number of recorded requests, and that nothing remains after the cluster is closed or its start
 * fails.
 */
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import { configMap, validatingWebhookConfiguration } from '../../src/api/builtin.ts'
import { startDevCluster } from '../../src/devcluster/dev-cluster.ts'
import type { RequestRecord } from '../../src/devcluster/http/handle.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { until } from '../../src/testing/until.ts'
import { testCertificate } from '../support/certs/server-certificate.ts'
import { clientFor } from '../support/devcluster/client.ts'
import { startTestCluster } from '../support/devcluster/kubectl.ts'
import { recordingLogger } from '../support/recording-logger.ts'

t.test('the oldest tenth of the recorded requests is dropped when there are more than 10,000', async (t) => {
  const cluster = await startTestCluster(t, { controllers: false })
  const client = clientFor(t, cluster.connection)
  const requests = cluster.requests as RequestRecord[]
  const record = requests[0]!
  while (requests.length < 9_999) requests.push({ ...record, at: requests.length })
  await client.raw('/version')
  await until('the request is recorded', () => requests.length === 10_000)
  const [kept] = requests.slice(1_000)
  await client.raw('/readyz')
  await until('the oldest are dropped', () => requests.length === 9_001)
  t.equal(requests[0], kept)
  t.strictSame(
    requests.slice(-2).map(({ path }) => path),
    ['/version', '/readyz'],
  )
})

t.test('a closed cluster keeps no connection to a webhook', async (t) => {
  const certificate = testCertificate()
  const open = new Set<Socket>()
  let calls = 0
  const server = createServer(certificate, (_request, response) => {
    calls += 1
    response.writeHead(500).end()
  })
  // With the default timeout, the server would close idle connections itself.
  server.keepAliveTimeout = 0
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const cluster = await startTestCluster(t, { controllers: false })
  const client = clientFor(t, cluster.connection)
  const clientConfig = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    caBundle: Buffer.from(certificate.ca).toString('base64'),
  }
  await client.create(validatingWebhookConfiguration, {
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig,
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  await t.rejects(client.create(configMap, { metadata: { namespace: 'default', name: 'a' } }))
  t.strictSame([calls, open.size], [1, 1])
  await cluster.close()
  await until('the connection has ended', () => open.size === 0)
})

t.test('a cluster that is closed while its controllers work logs no errors', async (t) => {
  const { logger, lines } = recordingLogger('warn')
  const namespaces = Array.from({ length: 20 }, (_, index) => `namespace-${index}`)
  for (let round = 0; round < 3; round += 1) {
    const cluster = await startDevCluster({ port: 0, namespaces, logger })
    await until('a controller has written', () =>
      cluster.requests.some(({ verb, path }) => verb === 'create' && path.endsWith('/serviceaccounts')),
    )
    await cluster.close()
  }
  t.strictSame(lines, [])
})

t.test('a failed start leaves no server behind', async (t) => {
  const servers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length
  const before = servers()
  await t.rejects(startDevCluster({ port: 0, controllers: false, namespaces: ['No_Name'], logger: silentLogger() }), {
    message: /^Namespace "No_Name" is invalid: /,
  })
  await until('the server has closed', () => servers() === before)
})
