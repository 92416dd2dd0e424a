/** Tests of control planes whose Pods are processes. */
import { readdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { pod } from '../../src/api/builtin.ts'
import { startControlPlane, until } from '../../src/testing/index.ts'

const key = { name: 'hello', namespace: 'default' }

t.test('the containers run as processes, and their files are removed with the control plane', async (t) => {
  // The control plane creates its temporary folder in the folder that the variable `TMPDIR` names.
  const folder = t.testdir()
  const { TMPDIR = tmpdir() } = process.env
  process.env.TMPDIR = folder
  t.teardown(() => (process.env.TMPDIR = TMPDIR))
  const controlPlane = await startControlPlane({ pods: {} })
  t.teardown(() => controlPlane.stop())
  t.match(controlPlane.pods?.mode, /^(namespaces|plain)$/)
  const { client } = controlPlane
  const container = { name: 'main', image: 'example.com/app:1', command: ['sh', '-c', 'echo hello; exit 7'] }
  await client.create(pod, { metadata: key, spec: { restartPolicy: 'Never', containers: [container] } })
  const { status } = await until('the Pod has ended', async () => {
    const found = await client.get(pod, key)
    return found.status?.phase === 'Failed' && found
  })
  t.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 7)
  for await (const line of client.logs(key)) t.equal(line, 'hello')
  await controlPlane.stop()
  t.strictSame(readdirSync(folder), [])
})

t.test('an image is a folder', async (t) => {
  const image = join(t.testdir(), 'image')
  await mkdir(image)
  await t.rejects(startControlPlane({ pods: { images: { app: join(image, 'missing') } } }), { code: 'PRO_CONFIG_INVALID' })
  await t.rejects(startControlPlane({ pods: { images: { app: 7 } } } as never), { message: /pods\.images/ })
  const { stop } = await startControlPlane({ pods: { images: { app: image } } })
  await stop()
})
