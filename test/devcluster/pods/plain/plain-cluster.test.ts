/** Tests of `proreus dev --pods=process` on a machine that permits no namespaces. The containers of Pods are then plain processes. */
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { event, pod as podType } from '../../../../src/api/builtin.ts'
import type { Pod } from '../../../../src/api/builtin.ts'
import type { Client } from '../../../../src/client/client.ts'
import { until } from '../../../../src/testing/until.ts'
import { collect } from '../../../support/client/collect.ts'
import { untilGone } from '../../../support/devcluster/client.ts'
import { DevProcess } from '../../../support/pods/dev-process.ts'
import { ExecSession } from '../../../support/pods/exec-session.ts'
import { scatter, scattered, sleepers, sleeping, uniqueSleep } from '../../../support/pods/plain/processes.ts'
import { newStateFolder } from '../../../support/pods/plain/state-folder.ts'
import { withoutNamespaces } from '../../../support/pods/plain/without-namespaces.ts'
import { requestByPortForward } from '../../../support/pods/port-forward.ts'
import { isReady, keyOf } from '../../../support/pods/process-cluster.ts'

t.jobs = 2

const { words, skip } = withoutNamespaces()

const shell = (script: string): object => ({ command: ['sh', '-c', script] })

function run(client: Client, name: string, container: object, spec: object = {}): Promise<Pod> {
  const containers = [{ name: 'main', image: 'example.com/app:1', ...container }]
  return client.create(podType, { metadata: keyOf(name), spec: { terminationGracePeriodSeconds: 2, ...spec, containers } as never })
}

function untilPod(client: Client, name: string, condition: (pod: Pod) => boolean): Promise<Pod> {
  return until(`the Pod ${name} is as expected`, async () => {
    const found = await client.get(podType, keyOf(name))
    return condition(found) && found
  })
}

/** Returns a port of this machine on which no process listens. Without network namespaces, all Pods share the ports of this machine. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

t.test('a cluster without namespaces', { skip }, async (t) => {
  const dev = new DevProcess(newStateFolder(t), words)
  t.teardown(() => dev.stop())
  const { client, connection } = await dev.ready()
  t.teardown(() => client.close())
  t.match(dev.output, /"mode":"plain","reason":"[^"]+"/)

  t.test('a Pod runs, and clients reach it', async (t) => {
    const port = await freePort()
    const server = `require('http').createServer((request, response) => {
        if (request.url === '/end') process.exit(3)
        response.end('answered by ' + process.env.NAME)
      }).listen(${port}, '127.0.0.1', () => console.log('listens'))`
    const created = await run(client, 'server', {
      command: [process.execPath, '-e', server],
      env: [{ name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      readinessProbe: { httpGet: { port, path: '/' }, periodSeconds: 1 },
    })
    const token = [{ mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }]
    t.match(created.spec?.containers[0]?.volumeMounts, token, 'the Pod has the volume of its token, as every Pod')
    const { status } = await untilPod(client, 'server', isReady)
    t.match(status, { podIP: '127.0.0.1', containerStatuses: [{ restartCount: 0 }] })
    t.strictSame(await collect(client.logs(keyOf('server'))), ['listens'])
    t.match(await requestByPortForward(connection, keyOf('server'), port), /^HTTP\/1\.1 200 [^]*answered by server$/)

    const files = readdirSync(dev.podsFolder, { recursive: true, encoding: 'utf8' })
    t.strictSame(
      [files.some((path) => path.includes(created.metadata.uid)), files.filter((path) => /kube-api-access/.test(path))],
      [true, []],
    )

    const target = { namespace: 'default', pod: 'server', container: 'main' }
    const session = await ExecSession.open(connection, target, ['sh', '-c', 'echo "in $NAME"'])
    await until('the command has ended', () => session.hasEnded)
    t.equal(session.output, 'in server\n')

    await fetch(`http://127.0.0.1:${port}/end`).catch(() => undefined)
    const again = await untilPod(client, 'server', (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === 1)
    t.match(again.status?.containerStatuses?.[0]?.lastState, { terminated: { exitCode: 3 } })
    t.strictSame(await collect(client.logs(keyOf('server'), { previous: true })), ['listens'])
    await client.delete(podType, keyOf('server'))
    await untilGone(client, podType, keyOf('server'))
    await t.rejects(fetch(`http://127.0.0.1:${port}/`), 'the process of a deleted Pod has ended')
  })

  t.test('a Pod with a volume is refused, and its Event names the field', async (t) => {
    const mountPath = '/proreus-test-mount'
    const volumes = [{ name: 'work', emptyDir: {} }]
    await run(client, 'mounts', { ...shell('echo ran'), volumeMounts: [{ name: 'work', mountPath }] }, { volumes })
    const message = new RegExp(`^Error: this machine cannot isolate containers, .*: volumeMounts\\.mountPath: .* and not at ${mountPath}$`)
    await until('the Event', async () => {
      const { items } = await client.list(event, { namespace: 'default', fieldSelector: 'involvedObject.name=mounts' })
      return items.some((one) => one.type === 'Warning' && one.reason === 'Failed' && message.test(one.message ?? ''))
    })
    const { status } = await client.get(podType, keyOf('mounts'))
    t.match(status?.containerStatuses?.[0], { started: false, containerID: /^process:/ })
    t.notOk(existsSync(mountPath))
  })
})

t.test('kill -9 leaves no process, and the next start runs the Pods again', { skip }, async (t) => {
  const [folder, seconds] = [newStateFolder(t), uniqueSleep()]
  for (const round of [1, 2, 3]) {
    const dev = new DevProcess(join(folder, 'state'), words)
    t.teardown(() => dev.kill())
    const { client } = await dev.ready()
    // The cluster keeps its objects, so only the first round creates the Pods.
    if (round === 1) for (const name of ['a', 'b']) await run(client, name, shell(`trap '' TERM HUP; ${scatter(seconds)}\nsleep 1000`))
    // In the second round, Proreus is killed while it starts the processes.
    if (round === 2) await until('some processes run', () => sleepers(seconds).length > 0)
    else await sleeping(seconds, 2 * scattered)
    await client.close()
    await dev.kill()
    await sleeping(seconds, 0)
  }
})
