/** Tests of the example of the guide docs/guides/pods-as-processes.md, with Pods that run as processes and with simulated Pods. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { greeter, operator } from '../../docs/examples/greeter/operator.ts'
import { deployment, pod } from '../../src/api/builtin.ts'
import { createClient } from '../../src/client/client.ts'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { until } from '../../src/testing/until.ts'
import { namespacesProblem } from '../support/pods/namespaces-problem.ts'
import { repository, startProreus } from '../support/process/process.ts'

const example = join(repository, 'docs/examples/greeter')
// The folder must not be in /tmp: each container has its own /tmp, so a container cannot see the files in /tmp of this machine.
const bin = mkdtempSync('/var/tmp/proreus-greeter-')
t.teardown(() => rmSync(bin, { recursive: true }))
copyFileSync(join(example, 'program.ts'), join(bin, 'greeter'))
process.env.PATH = [bin, process.env.PATH].join(delimiter)
const key = { namespace: 'default', name: 'hello' }
const ofGreeter = { namespace: 'default', labelSelector: { matchLabels: { greeter: 'hello' } } }

for (const [name, options] of [
  ['simulated', {}],
  ['processes', { pods: {} }],
] as const)
  t.test(`a Greeter is rolled, scaled and deleted with Pods that are ${name}`, async (t) => {
    const controlPlane = await startControlPlane(options)
    t.teardown(() => controlPlane.stop())
    if (controlPlane.pods?.mode === 'plain') return t.comment(`two servers of one port need namespaces: ${controlPlane.pods.plainBecause}`)
    await controlPlane.startOperator([operator])
    const { client } = controlPlane
    const readyPods = async (greeting: string, count: number): Promise<readonly string[]> =>
      until(`${count} Pods say ${greeting}`, async () => {
        const { status } = await client.get(greeter, key)
        const { items } = await client.list(pod, ofGreeter)
        const says = items.every(({ spec }) => spec?.containers[0]?.env?.some(({ value }) => value === greeting))
        return status?.readyReplicas === count && items.length === count && says && items.map(({ metadata }) => metadata.uid)
      })
    await client.create(greeter, { metadata: key, spec: { greeting: 'Hello' } })
    const first = await readyPods('Hello', 2)
    await client.patch(greeter, key, { spec: { greeting: 'Good evening' } })
    const second = await readyPods('Good evening', 2)
    t.notOk(second.some((uid) => first.includes(uid)))
    await client.patch(greeter, key, { spec: { replicas: 1 } })
    await readyPods('Good evening', 1)
    await client.delete(greeter, key)
    await until('all is gone', async () => (await client.list(pod, ofGreeter)).items.length === 0)
    await t.rejects(client.get(deployment, key), { message: 'deployments.apps "hello" not found' })
    return undefined
  })

t.test('the operator of the greeter runs its program as processes', { skip: await namespacesProblem() }, async (t) => {
  const cwd = t.testdir()
  const { env } = process
  const dev = startProreus(['dev', '--port', '0', '--pods=process', '--operators', join(example, 'operator.ts')], { cwd, env })
  t.teardown(() => dev.stop())
  await until('it is ready', () => dev.output().includes('"ready"') || dev.child.exitCode !== null)
  t.match(dev.output(), /"mode":"namespaces"/)
  const client = createClient(await loadConnection({ env: { KUBECONFIG: join(cwd, '.proreus/kubeconfig') } }))
  t.teardown(() => client.close())
  await client.create(greeter, { metadata: key, spec: { greeting: 'Good morning' } })
  await until('both Pods are ready', async () => (await client.get(greeter, key)).status?.readyReplicas === 2)
  const { items } = await client.list(pod, ofGreeter)
  t.equal(items.length, 2)
  for (const { metadata } of items)
    t.match(readFileSync(join(cwd, `.proreus/pods/logs/${metadata.uid}/greeter/0.1.log`), 'utf8'), / stdout F listening\n/)
})
