/** Tests of `proreus dev` on a terminal. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { configMap, namespace, node, validatingWebhookConfiguration } from '../../src/api/builtin.ts'
import { version } from '../../src/api/version.ts'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/client.ts'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { listen } from '../../src/runtime/listen.ts'
import { proreus, repository, startProreus } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'

/** A module that makes the standard error of a process look like a terminal. */
const terminal = 'data:text/javascript,Object.assign(process.stderr,{isTTY:true,hasColors:()=>false,getColorDepth:()=>1})'
const env = { ...process.env, NODE_OPTIONS: `--import ${terminal}` }

t.test('progress, next steps and logs are printed; a second process is refused, and the kubeconfig is removed at the end', async (t) => {
  const cwd = t.testdir({ state: { kubeconfig: 'an old one' }, config: { samples: { 'mypod.yaml': '' } } })
  const args = [
    'dev',
    '--port',
    '0',
    '--operators',
    `${repository}/docs/examples/hello.ts,mypod`,
    '--state-dir',
    'state',
    '--cert-dir',
    'mine',
  ]
  const dev = startProreus(args, { cwd, env })
  t.teardown(() => dev.stop())
  await until('it is ready', () => dev.output().includes('Ctrl-C') || dev.child.exitCode !== null)
  const kubeconfig = readFileSync(join(cwd, 'state/kubeconfig'), 'utf8')
  const api = /https:\/\/127\.0\.0\.1:\d+/.exec(kubeconfig)?.[0]
  const printed = dev.output().replace(api!, 'API').replace(/:\d{4,5}\b/g, ':PORT').replace(/\d+\.\d s/g, 'N s') // prettier-ignore
  t.equal(
    printed,
    `proreus ${version}

  ✓ Kubernetes API     API N s
  ✓ custom resources   Hello.example.com, MyPod.harryyann.github.io N s
  ✓ webhooks           https://127.0.0.1:PORT N s
  ✓ controllers        hello, mypod N s
  ✓ metrics            http://127.0.0.1:PORT/metrics N s

Ready in N s. In another terminal:

  export KUBECONFIG=state/kubeconfig
  kubectl create -f config/samples/mypod.yaml
  kubectl get hellos -A -o wide

Ctrl-C ends it; its objects are kept in state.

`,
  )
  t.ok(existsSync(join(cwd, 'mine/tls.crt')))
  t.match(readFileSync(join(cwd, 'state/dev.pid'), 'utf8'), new RegExp(`^${dev.child.pid}\\n`))
  const second = await proreus(args, { cwd })
  t.match(second, { code: 1, stderr: `Process ${dev.child.pid} runs proreus dev with state already` })
  t.equal(readFileSync(join(cwd, 'state/kubeconfig'), 'utf8'), kubeconfig, 'the first one is not affected')
  const client = createClient(await loadConnection({ env: { KUBECONFIG: join(cwd, 'state/kubeconfig') } }))
  const { items } = await client.list(validatingWebhookConfiguration)
  t.strictSame(
    items.map(({ metadata }) => metadata.name),
    ['dev-validating'],
    'several operators without a name',
  )
  await t.resolves(client.get(namespace, { name: 'test-mypod' }), 'the namespace of the sample exists')
  await client.close()
  t.equal(await dev.stop(), 0)
  t.match(dev.output(), /INFO: received SIGTERM/)
  t.strictSame(readdirSync(join(cwd, 'state')).sort(), ['objects.db', 'state.json'], 'only state that is valid across restarts')
})

t.test('without operators there is an API server only, and without a terminal readiness is logged', async (t) => {
  const cwd = t.testdir()
  const dev = startProreus(['dev', '--port', '0', '--operators', 'none'], { cwd })
  t.teardown(() => dev.stop())
  await until('it is ready', () => dev.output().includes('"ready"') || dev.child.exitCode !== null)
  const lines = dev.output().trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>) // prettier-ignore
  t.match(lines, [{ level: 'info', msg: 'ready', kubeconfig: '.proreus/kubeconfig', api: /^https:\/\/127\.0\.0\.1:\d+$/ }])
  t.equal(lines.length, 1)
  const client = createClient(await loadConnection({ env: { KUBECONFIG: join(cwd, '.proreus/kubeconfig') } }))
  const { items } = await client.list(namespace)
  t.strictSame(items.map(({ metadata }) => metadata.name), ['default', 'kube-node-lease', 'kube-public', 'kube-system'], 'none of a sample') // prettier-ignore
  await client.close()
  t.equal(await dev.stop('SIGINT'), 0)
  t.notOk(existsSync(join(cwd, '.proreus/kubeconfig')))
  t.notOk(existsSync(join(cwd, '.proreus/dev.pid')))
  t.notOk(existsSync(join(cwd, 'certs')))
  t.equal(existsSync(join(cwd, '.proreus/state.json')), true)
})

t.test('a failed start releases the folder', async (t) => {
  const cwd = t.testdir({ state: { kubeconfig: {} } })
  const { code, stderr } = await proreus(['dev', '--port', '0', '--operators', 'none', '--state-dir', 'state'], { cwd })
  t.equal(code, 1)
  t.match(stderr, /^proreus: state\/kubeconfig cannot be replaced: .*: choose another folder with --state-dir\.\n$/)
  t.strictSame(readdirSync(join(cwd, 'state')), ['kubeconfig'])
})

t.test('a port that is in use is an error that names the flag', async (t) => {
  const blocker = createServer()
  t.teardown(() => new Promise((resolve) => blocker.close(resolve)))
  const port = await listen(blocker, { host: '127.0.0.1', port: 0 })
  const { code, stderr } = await proreus(['dev', '--port', String(port), '--operators', 'none'], { cwd: t.testdir() })
  t.equal(code, 1)
  t.match(stderr, /is in use by another process: stop that one, or choose another address with --port\.\n$/)
})

/**
 * Starts `proreus dev` without operators. When `proreus dev` is ready, calls `use` with a client. Then stops `proreus dev`, and returns its
 * output.
 */
async function devOnce(cwd: string, args: readonly string[], use: (client: Client) => Promise<unknown> = async () => undefined) {
  const dev = startProreus(['dev', '--port', '0', '--operators', 'none', ...args], { cwd })
  await until('it is ready', () => dev.output().includes('"ready"') || dev.child.exitCode !== null)
  try {
    const client = createClient(await loadConnection({ env: { KUBECONFIG: join(cwd, '.proreus/kubeconfig') } }))
    await use(client)
    await client.close()
  } finally {
    await dev.stop()
  }
  return dev.output()
}

t.test('objects are kept unless they are ephemeral or reset, and the start reports them', async (t) => {
  const cwd = t.testdir()
  const key = { namespace: 'default', name: 'mine' }
  const hasObject = (expected: boolean) => async (client: Client) => {
    const { items } = await client.list(configMap, { namespace: 'default' })
    t.equal(
      items.some(({ metadata }) => metadata.name === 'mine'),
      expected,
    )
  }
  t.notMatch(await devOnce(cwd, [], (client) => client.create(configMap, { metadata: key })), / objects of /)
  t.match(await devOnce(cwd, [], hasObject(true)), /"msg":"\d+ objects of \d+ types from \.proreus"/)
  t.notMatch(await devOnce(cwd, ['--ephemeral'], hasObject(false)), / objects of /)
  t.match(await devOnce(cwd, [], hasObject(true)), / objects of /)
  t.notMatch(await devOnce(cwd, ['--data-dir', 'data'], hasObject(false)), / objects of /)
  t.match(await devOnce(cwd, ['--data-dir', 'data']), / objects of \d+ types from data"/)
  t.strictSame(readdirSync(join(cwd, 'data')).sort(), ['.gitignore', 'objects.db', 'state.json'])
  t.notMatch(await devOnce(cwd, ['--reset'], hasObject(false)), / objects of /)
  const refused = await proreus(['dev', '--operators', 'none', '--ephemeral', '--reset'], { cwd })
  t.match(refused, { code: 2, stderr: /option '--ephemeral' cannot be used with option '--reset'/ })
})

t.test('a CRD of another operator in the kept objects is an error that names --reset', async (t) => {
  const cwd = t.testdir()
  const operator = (name: string, type: string): string => {
    writeFileSync(
      join(cwd, `${name}.ts`),
      `import { defineKind, defineOperator, Type } from 'proreus'
const kinds = [defineKind({ group: 'example.com', kind: 'CronJob', versions: [{ name: 'v1', spec: Type.Object({ at: Type.${type}() }) }] })]
export const operator = defineOperator({ name: '${name}', kinds })\n`,
    )
    return `./${name}.ts`
  }
  const dev = startProreus(['dev', '--port', '0', '--operators', operator('one', 'String')], { cwd, env })
  await until('it is ready', () => dev.output().includes('Ctrl-C') || dev.child.exitCode !== null)
  t.match(dev.output(), 'kubectl get cronjobs.example.com -A -o wide', 'not the built-in type')
  await dev.stop()
  const other = await proreus(['dev', '--port', '0', '--operators', operator('two', 'Integer')], { cwd })
  t.match(other, { code: 1, stderr: /installed with another definition by "one" .*: .* or forget the kept objects with --reset\./ })
})

t.test('flags for Pods that are processes need --pods=process', async (t) => {
  const cwd = t.testdir()
  for (const flag of ['--check', '--pods-image=a=b']) {
    const refused = await proreus(['dev', '--operators', 'none', flag], { cwd })
    t.match(refused, { code: 1, stderr: 'proreus: --check and --pods-image have a meaning only with --pods=process.\n' })
  }
})

t.test('without objects, the files of kept claims stay; with them, those of deleted claims are removed', async (t) => {
  const cwd = t.testdir({ '.proreus': { pods: { 'persistent-volumes': { 'pvc-1': { rows: 'kept' } } } } })
  const file = join(cwd, '.proreus/pods/persistent-volumes/pvc-1/rows')
  await devOnce(cwd, ['--pods=process', '--ephemeral'])
  t.equal(readFileSync(file, 'utf8'), 'kept')
  await devOnce(cwd, ['--pods=process'])
  t.notOk(existsSync(file))
})

t.test('the objects of a running process are refused to another one, also with another state folder', async (t) => {
  const cwd = t.testdir()
  await devOnce(cwd, ['--data-dir', 'data'], async () => {
    const second = await proreus(['dev', '--port', '0', '--operators', 'none', '--state-dir', 'other', '--data-dir', 'data'], { cwd })
    t.match(second, { code: 1, stderr: /^proreus: The objects in data\/objects\.db are in use by another process: stop it, or choose another folder\.\n$/ }) // prettier-ignore
    t.strictSame(readdirSync(join(cwd, 'other')), ['.gitignore'])
  })
})

t.test('controllers are selected, and an unknown one is an error that lists the known ones', async (t) => {
  const cwd = t.testdir()
  await devOnce(cwd, ['--controllers', 'none'], async (client) => t.strictSame((await client.list(node)).items, []))
  const { code, stderr } = await proreus(['dev', '--operators', 'none', '--controllers', '*,-pods'], { cwd })
  t.equal(code, 1)
  t.match(stderr, /^proreus: --controllers: unknown controller "-pods": the controllers are .*, cronjob-controller, .*\n$/)
})
