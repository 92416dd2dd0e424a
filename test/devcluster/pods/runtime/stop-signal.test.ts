import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { pod as podType } from '../../../../src/api/builtin.ts'
import { Images } from '../../../../src/devcluster/pods/runtime/images.ts'
import { until } from '../../../../src/testing/until.ts'
import { untilGone } from '../../../support/devcluster/client.ts'
import { keyOf, needNamespaces, startProcessCluster } from '../../../support/pods/process-cluster.ts'

const folder = await mkdtemp(join(tmpdir(), 'proreus-images-'))
t.teardown(() => rm(folder, { recursive: true }))

/** Creates an image without programs. The containers mount the programs of this machine. */
async function makeImage(name: string, config: object): Promise<string> {
  await mkdir(join(folder, name))
  await writeFile(join(folder, `${name}.json`), JSON.stringify({ config }))
  return join(folder, name)
}

const programs = (await readdir('/')).filter((name) => /^(usr|bin|lib\w*)$/.test(name))
const script =
  'trap "echo SIGINT >/result/file; exit" INT; trap "echo SIGTERM >/result/file; exit" TERM; >/result/ready; while :; do sleep 0.05; done'

const { client, cluster, run } = await startProcessCluster(t, {
  images: {
    'example.com/int:1': await makeImage('int', { StopSignal: 'SIGINT' }),
    'example.com/number:1': await makeImage('number', { StopSignal: '2' }),
    'example.com/default:1': await makeImage('default', {}),
  },
})
await needNamespaces(t, cluster)

for (const [name, signal] of [
  ['int', 'SIGINT'],
  ['number', 'SIGINT'],
  ['default', 'SIGTERM'],
] as const)
  t.test(`a container of the image ${name} ends with ${signal}`, async (t) => {
    const result = join(folder, `result-${name}`)
    await mkdir(result)
    const mounts = [...programs.map((program) => [program, `/${program}`, `/${program}`] as const), ['result', result, '/result'] as const]
    await run(
      name,
      {
        image: `example.com/${name}:1`,
        command: ['/bin/sh', '-c', script],
        volumeMounts: mounts.map(([volume, , mountPath]) => ({ name: volume, mountPath })),
      },
      { terminationGracePeriodSeconds: 10, volumes: mounts.map(([volume, path]) => ({ name: volume, hostPath: { path } })) },
    )
    await until('the process handles signals', () => existsSync(join(result, 'ready')))
    await client.delete(podType, keyOf(name))
    await untilGone(client, podType, keyOf(name))
    t.equal((await readFile(join(result, 'file'), 'utf8')).trim(), signal)
  })

t.test('an image with an unknown signal is refused', async (t) => {
  const image = await makeImage('unknown', { StopSignal: 'SIGNONE' })
  await t.rejects(Images.read({ 'example.com/unknown:1': image }), {
    code: 'PRO_CONFIG_INVALID',
    message: `The image "example.com/unknown:1": ${image}.json: config.StopSignal is "SIGNONE", which is no signal of this machine.`,
  })
})
