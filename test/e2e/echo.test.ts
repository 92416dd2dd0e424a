/** Tests of the Echo operator with Pods that run as processes: the Pods print the message. */
import t from 'tap'
import { pod } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { echoOperator } from '../../src/operators/echo/index.ts'
import { echo } from '../../src/operators/echo/kind.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { until } from '../../src/testing/until.ts'

const namespace = 'default'

t.test('E1, E5: the message is printed as it is', async (t) => {
  const controlPlane = await startControlPlane({ pods: {} })
  t.teardown(() => controlPlane.stop())
  await controlPlane.startOperator([echoOperator])
  const { client } = controlPlane
  const messages = { 'hello-world': 'Hola, 世界!', hostile: '$(HOSTNAME) ; rm -rf / && "x" $$ $' }
  for (const [name, message] of Object.entries(messages)) {
    await client.create(echo, { metadata: { namespace, name }, spec: { message } })
    await until(`the Echo ${name} is complete`, async () => {
      const { status } = await client.get(echo, { namespace, name })
      return findCondition(status?.conditions, 'Complete')?.status === 'True'
    })
    const { items } = await client.list(pod, { namespace, labelSelector: { matchLabels: { 'job-name': name } } })
    t.equal(items.length, 1)
    const lines: string[] = []
    for await (const line of client.logs({ namespace, name: items[0]!.metadata.name })) lines.push(line)
    t.strictSame(lines, [message])
  }
})
