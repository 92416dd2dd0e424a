import t from 'tap'
import type { Node } from '../../../../src/api/builtin.ts'
import { NodeMachines } from '../../../../src/devcluster/controllers/kubelet/node-machines.ts'

const node = (name: string, uid: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
})

t.test('a node keeps its images, unless it is created again', async (t) => {
  const machines = new NodeMachines(() => ({ event: () => undefined }))
  const exists = (): boolean => true
  const first = machines.of(node('a', '1'), exists)
  first.images.add('x')
  t.equal(machines.of(node('a', '1'), exists), first)
  t.strictSame(machines.of(node('a', '2'), exists).images, new Set())
})

t.test('deleted nodes are forgotten', async (t) => {
  const recorders: string[] = []
  const machines = new NodeMachines((name) => {
    recorders.push(name)
    return { event: () => undefined }
  })
  for (let index = 0; index < 100; index += 1) {
    const name = `node-${index}`
    machines.of(node(name, name), (other) => other === 'node-0' || other === name)
  }
  t.equal(machines.size, 2)
  machines.of(node('node-0', 'node-0'), () => true)
  t.equal(recorders.length, 100, 'a node that exists keeps its recorder')
})
