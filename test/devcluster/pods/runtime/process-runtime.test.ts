import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { configMap, secret, service } from '../../../../src/api/builtin.ts'
import { core } from '../../../../src/api/kubernetes/core.ts'
import { pod as podType } from '../../../../src/api/builtin.ts'
import { until } from '../../../../src/testing/until.ts'
import { kubectlOf } from '../../../support/devcluster/kubectl.ts'
import { untilGone } from '../../../support/devcluster/client.ts'
import { hasEnded, isReady, keyOf, needNamespaces, startProcessCluster } from '../../../support/pods/process-cluster.ts'
import { nodeProgram } from '../../../support/pods/node-program.ts'

const shell = (script: string): object => ({ command: ['sh', '-c', script] })
const never = { restartPolicy: 'Never' }

const { client, run, untilPod, output, events, stateFolder, cluster } = await startProcessCluster(t)
const kubectl = kubectlOf(t, cluster)
await needNamespaces(t, cluster)
t.jobs = 3

t.test('a container is a process with its variables, its exit code and its termination message', async (t) => {
  await run(
    'exits',
    {
      ...shell('echo "$GREETING from $(hostname) at $POD_IP with $CPUS CPUs"; echo failed >/dev/termination-log; exit 42'),
      env: [
        { name: 'NAME', value: 'world' },
        { name: 'GREETING', value: 'hello $(NAME)' },
        { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      ],
    },
    never,
  )
  const pod = await untilPod('exits', hasEnded)
  t.match(pod.status, {
    phase: 'Failed',
    podIP: /^10\.244\./,
    containerStatuses: [{ state: { terminated: { exitCode: 42, reason: 'Error', message: 'failed\n' } }, containerID: /^process:\/\// }],
  })
  t.equal((await output(pod)).trim(), `hello world from exits at ${pod.status?.podIP} with 8 CPUs`)
})

t.test('a connection to an address outside of the cluster fails at once', async (t) => {
  const connect = "require('net').connect(80, '192.0.2.1').on('error', ({ code }) => console.log(code))"
  await run('outside', { command: ['node', '--eval', connect] }, never)
  t.match(await output(await untilPod('outside', hasEnded)), /^E(NET|HOST)UNREACH\n/)
})

t.test('a crashing container is restarted with back-off, and keeps the state of its last run', async (t) => {
  await run('crashes', shell('echo run; exit 3'))
  const pod = await untilPod('crashes', ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff')
  t.match(pod.status?.containerStatuses?.[0], { restartCount: 1, lastState: { terminated: { exitCode: 3 } } })
  t.ok(
    (await events('crashes')).some((text) =>
      text.startsWith('Warning BackOff: Back-off restarting failed container main in pod crashes_default'),
    ),
  )
})

t.test('a program that is not on this machine, and a container without one, have no image', async (t) => {
  await run('missing', { command: ['no-such-program'] })
  await run('empty', {})
  const image = (name: string): Promise<unknown> =>
    untilPod(name, ({ status }) =>
      ['ErrImagePull', 'ImagePullBackOff'].includes(status?.containerStatuses?.[0]?.state?.waiting?.reason ?? ''),
    )
  await Promise.all([image('missing'), image('empty')])
  t.ok((await events('missing')).some((text) => text.includes('the program "no-such-program" is not on this machine')))
  t.ok((await events('empty')).some((text) => text.includes('the container has neither command nor args')))
})

t.test('init containers run in order before the others, with volumes that they share', async (t) => {
  const volumeMounts = [{ name: 'work', mountPath: '/work/new/path' }]
  const init = (name: string, script: string): object => ({ name, image: 'x', ...shell(script), volumeMounts })
  await run(
    'steps',
    { ...shell('cat /work/new/path/steps'), volumeMounts },
    {
      ...never,
      volumes: [{ name: 'work', emptyDir: {} }],
      initContainers: [init('one', 'echo one >>/work/new/path/steps'), init('two', 'echo two >>/work/new/path/steps')],
    },
  )
  const pod = await untilPod('steps', hasEnded)
  t.equal(pod.status?.phase, 'Succeeded')
  t.equal((await output(pod)).trim(), 'one\ntwo')
})

t.test('ConfigMaps and Secrets are files, which follow the objects', async (t) => {
  await client.create(configMap, { metadata: keyOf('settings'), data: { color: 'red' } })
  await client.create(secret, { metadata: keyOf('password'), stringData: { word: 'sesame' } })
  const names = ['settings', 'password']
  await run(
    'reads',
    {
      ...shell('cat /secrets/word; echo; while :; do cat /config/color; echo; sleep 0.1; done'),
      volumeMounts: [
        { name: names[0], mountPath: '/config' },
        { name: names[1], mountPath: '/secrets' },
      ],
    },
    {
      volumes: [
        { name: names[0], configMap: { name: 'settings' } },
        { name: names[1], secret: { secretName: 'password' } },
      ],
    },
  )
  const pod = await untilPod('reads', isReady)
  await until('the file is read', async () => (await output(pod)).includes('red'))
  await client.patch(configMap, keyOf('settings'), { data: { color: 'green' } })
  const text = await until('the file has changed', async () => {
    const all = await output(pod)
    return all.includes('green') && all
  })
  t.match(text, /^sesame\nred\n/)
})

t.test('a program may be a file of a volume', async (t) => {
  await client.create(configMap, { metadata: keyOf('script'), data: { 'run.sh': '#!/bin/sh\necho ran' } })
  const volumes = [{ name: 'script', configMap: { name: 'script', defaultMode: 0o755 } }]
  await run('scripted', { command: ['/scripts/run.sh'], volumeMounts: [{ name: 'script', mountPath: '/scripts' }] }, { ...never, volumes })
  const pod = await untilPod('scripted', hasEnded)
  t.equal((await output(pod)).trim(), 'ran')
})

t.test('a Pod waits for a missing ConfigMap', async (t) => {
  await run('waits', { ...shell('echo $COLOR'), envFrom: [{ configMapRef: { name: 'later' } }] }, never)
  await run(
    'mounts',
    { ...shell('cat /c/COLOR'), volumeMounts: [{ name: 'c', mountPath: '/c' }] },
    { ...never, volumes: [{ name: 'c', configMap: { name: 'later' } }] },
  )
  await untilPod('waits', ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError')
  await until('the Event FailedMount', async () =>
    (await events('mounts')).some(
      (text) => text === 'Warning FailedMount: MountVolume.SetUp failed for volume "c" : configmap "later" not found',
    ),
  )
  t.match((await client.get(podType, keyOf('mounts'))).status?.containerStatuses?.[0]?.state, { waiting: { reason: 'ContainerCreating' } })
  await client.create(configMap, { metadata: keyOf('later'), data: { COLOR: 'blue' } })
  const pod = await untilPod('mounts', hasEnded)
  t.equal((await output(pod)).trim(), 'blue')
})

t.test('the files of a claim outlive the Pod, and end with the volume', async (t) => {
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  await client.create(core.persistentVolumeClaim, { metadata: keyOf('data'), spec: claim } as never)
  const spec = { ...never, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }
  const volumeMounts = [{ name: 'data', mountPath: '/data' }]
  await run('writes', { ...shell('echo kept >/data/file'), volumeMounts }, spec)
  await untilPod('writes', hasEnded)
  await client.delete(podType, keyOf('writes'))
  await run('finds', { ...shell('cat /data/file'), volumeMounts }, spec)
  const pod = await untilPod('finds', hasEnded)
  t.equal((await output(pod)).trim(), 'kept')
  t.equal((await readdir(join(stateFolder, 'persistent-volumes'))).length, 1)
  await client.delete(podType, keyOf('finds'))
  await client.delete(core.persistentVolumeClaim, keyOf('data'))
  await until('the folder is removed', async () => (await readdir(join(stateFolder, 'persistent-volumes'))).length === 0)
})

t.test('Pods are deleted, whether or not they end by SIGTERM, and so are their files', async () => {
  // The first process in a PID namespace ignores SIGTERM until the process sets a handler. Therefore, the readiness probe succeeds only
  // after the shell has executed `trap`.
  const readinessProbe = { exec: { command: ['test', '-e', '/tmp/armed'] }, periodSeconds: 1 }
  const loop = 'touch /tmp/armed; while :; do sleep 0.05; done'
  await run('polite', { ...shell(`trap "exit 0" TERM; ${loop}`), readinessProbe }, { terminationGracePeriodSeconds: 30 })
  await run('stubborn', { ...shell(`trap "" TERM; ${loop}`), readinessProbe }, { terminationGracePeriodSeconds: 1 })
  const [polite, stubborn] = await Promise.all([untilPod('polite', isReady), untilPod('stubborn', isReady)])
  await Promise.all([client.delete(podType, keyOf('polite')), client.delete(podType, keyOf('stubborn'))])
  await Promise.all([untilGone(client, podType, keyOf('polite')), untilGone(client, podType, keyOf('stubborn'))])
  await until('the files are removed', async () => {
    const folders = [...(await readdir(join(stateFolder, 'pods'))), ...(await readdir(join(stateFolder, 'logs')))]
    return !folders.some((uid) => uid === polite.metadata.uid || uid === stubborn.metadata.uid)
  })
})

t.test('Services lead to ready Pods by their names', async (t) => {
  const server = 'require("http").createServer((request, response) => response.end("served by " + process.env.HOSTNAME)).listen(8080)'
  await client.create(service, {
    metadata: keyOf('shop'),
    spec: { selector: { app: 'shop' }, ports: [{ port: 80, targetPort: 8080 }] },
  } as never)
  await client.create(podType, {
    metadata: { ...keyOf('shop'), labels: { app: 'shop' } },
    spec: { containers: [{ name: 'main', image: 'node', command: [nodeProgram, '-e', server] }], terminationGracePeriodSeconds: 1 },
  } as never)
  await untilPod('shop', isReady)
  const request = 'fetch("http://shop/").then(async (response) => console.log(await response.text())).catch(() => process.exit(1))'
  await run('buyer', { command: [nodeProgram, '-e', request] }, { restartPolicy: 'OnFailure' })
  const pod = await untilPod('buyer', hasEnded)
  const restarts = pod.status?.containerStatuses?.[0]?.restartCount ?? 0
  t.equal((await output(pod, 'main', restarts)).trim(), 'served by shop')
})

t.test('a container has the token of its ServiceAccount, with which it reaches the API server', async (t) => {
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
  const script = `const { readFileSync } = require('fs')
    const get = require('https').get({ host: process.env.KUBERNETES_SERVICE_HOST, port: process.env.KUBERNETES_SERVICE_PORT, path: '/apis',
      ca: readFileSync('${folder}/ca.crt'), headers: { authorization: 'Bearer ' + readFileSync('${folder}/token') } },
      (response) => { console.log(response.statusCode); response.resume() })`
  await run('calls', { command: [nodeProgram, '-e', script] }, never)
  const pod = await untilPod('calls', hasEnded)
  t.equal((await output(pod)).trim(), '200')
  t.match(await readFile('/etc/hosts', 'utf8'), /localhost/, 'the files of this machine are unchanged')
})

t.test('probes by TCP, HTTP and gRPC, and hooks, are run', async (t) => {
  // In the response to a gRPC health check, 1 means SERVING and 2 means NOT_SERVING.
  const server = `const { createServer } = require('http'); const { existsSync } = require('fs')
    createServer((request, response) => { response.statusCode = existsSync('/tmp/ready') ? 200 : 503; response.end() }).listen(8080)
    require('http2').createServer().on('stream', (stream) => {
      stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(Buffer.from([0, 0, 0, 0, 2, 8, existsSync('/tmp/broken') ? 2 : 1]))
    }).listen(9090)
    process.on('SIGTERM', () => process.exit(existsSync('/tmp/stopping') ? 5 : 6))`
  const often = { periodSeconds: 1, failureThreshold: 100 }
  await run('probed', {
    command: [nodeProgram, '-e', server],
    ports: [{ name: 'web', containerPort: 8080 }],
    startupProbe: { tcpSocket: { port: 'web' }, ...often },
    readinessProbe: { httpGet: { port: 'web' }, ...often },
    livenessProbe: { grpc: { port: 9090 }, periodSeconds: 1, failureThreshold: 2 },
    lifecycle: {
      postStart: { exec: { command: ['sh', '-c', 'touch /tmp/hooked'] } },
      preStop: { exec: { command: ['touch', '/tmp/stopping'] } },
    },
  })
  const started = await untilPod('probed', ({ status }) => status?.containerStatuses?.[0]?.started === true)
  t.equal(isReady(started), false)
  await until('the Event Unhealthy', async () =>
    (await events('probed')).some((text) => text === 'Warning Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503'),
  )
  await kubectl.ok("exec probed -- sh -c 'ls /tmp/hooked && touch /tmp/ready'")
  const ready = await untilPod('probed', isReady)
  t.equal(ready.status?.containerStatuses?.[0]?.restartCount, 0)
  await kubectl.ok('exec probed -- touch /tmp/broken')
  const again = await untilPod('probed', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1)
  t.match(again.status?.containerStatuses?.[0]?.lastState, { terminated: { exitCode: 5 } }, 'the preStop hook has run before SIGTERM')
  await client.delete(podType, keyOf('probed'))
  await untilGone(client, podType, keyOf('probed'))
})

t.test('a container whose liveness probe fails is restarted', async (t) => {
  await run('unhealthy', {
    ...shell('touch /tmp/alive; sleep 1000'),
    livenessProbe: { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 1 },
  })
  const pod = await untilPod('unhealthy', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0)
  t.match(pod.status?.containerStatuses?.[0]?.lastState, { terminated: { exitCode: 137 } })
  t.ok((await events('unhealthy')).includes('Normal Killing: Container main failed liveness probe, will be restarted'))
})
