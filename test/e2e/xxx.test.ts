/** Tests of the Xxx operator with Pods that run as processes: a real repository is cloned and built, and the built program is removed. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { pod as podType } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { xxxOperatorWith } from '../../src/operators/xxx/index.ts'
import { xxx } from '../../src/operators/xxx/kind.ts'
import type { XxxOptions } from '../../src/operators/xxx/options.ts'
import { defaultOptions } from '../../src/operators/xxx/options.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { namespacesProblem } from '../support/pods/namespaces-problem.ts'
import { sampleSpec } from '../support/xxx/objects.ts'
import { xxxWorld } from '../support/xxx/world.ts'

t.setTimeout(300_000)

const key = { namespace: 'default', name: 'xxx-sample' }
const skip = await namespacesProblem()
const source = { 'hello.in': '#!/bin/sh\necho hello\n', 'build.sh': 'install -m 755 hello.in helloworld\n' }

/** Serves a Git repository on the loopback interface. Resolves with the URL at which Pods can reach the repository. */
async function serveRepository(t: Test, folder: string): Promise<string> {
  const git = (cwd: string, ...args: readonly string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: join(folder, cwd), stdio: 'ignore' })
  git('source', 'init')
  git('source', 'add', '.')
  git('source', 'commit', '-m', 'hello')
  git('', 'clone', '--bare', 'source', 'hello.git')
  git('hello.git', 'update-server-info')
  const server = createServer(({ url = '' }, response) => {
    const path = join(folder, new URL(url, 'http://localhost').pathname)
    response.writeHead(existsSync(path) ? 200 : 404).end(existsSync(path) ? readFileSync(path) : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  return `http://host.proreus.internal:${(server.address() as AddressInfo).port}/hello.git`
}

async function startWith(t: Test, options: Partial<XxxOptions>) {
  const controlPlane = await startControlPlane({ pods: {} })
  t.teardown(() => controlPlane.stop())
  await controlPlane.startOperator([xxxOperatorWith({ ...defaultOptions, ...options })])
  const { client } = controlPlane
  const logsOf = async (jobName: string): Promise<string> => {
    const { items } = await client.list(podType, { namespace: key.namespace, labelSelector: { matchLabels: { 'job-name': jobName } } })
    const lines: string[] = []
    for (const { metadata } of items) for await (const line of client.logs(metadata)) lines.push(line)
    return lines.join('\n')
  }
  return { client, logsOf, ...xxxWorld(client) }
}

t.test('F2, F5: the program is in the output folder, and is removed with the Xxx', { skip }, async (t) => {
  const folder = t.testdir({ source, output: { other: 'stays' } })
  const output = join(folder, 'output')
  const gitUrl = await serveRepository(t, folder)
  const hostPath = { kind: 'hostPath', path: output, namespaces: [key.namespace] } as const
  const { client, create, untilPhase, untilGone, logsOf } = await startWith(t, { output: hostPath })
  await create(key, { gitUrl, buildCommand: 'sh build.sh' })
  await untilPhase(key, 'Succeeded')
  t.strictSame(readdirSync(output), ['helloworld', 'other'])
  t.equal(execFileSync(join(output, 'helloworld'), { encoding: 'utf8' }), 'hello\n')

  // F3: the build command creates no file with the name `helloworld2`. Therefore, the Job cannot copy this file, and the build fails.
  await client.patch(xxx, key, { spec: { binaryName: 'helloworld2' } })
  const failed = await untilPhase(key, 'Failed')
  t.equal(findCondition(failed.status?.conditions, 'Ready')?.reason, 'BuildFailed')
  t.match(await logsOf(sampleSpec.jobName), /cp: cannot stat 'helloworld2'/)
  t.strictSame(readdirSync(output), ['helloworld', 'other'])

  await client.delete(xxx, key)
  await untilGone(key)
  t.strictSame(readdirSync(output), ['other'])
  t.equal(readFileSync(join(output, 'other'), 'utf8'), 'stays')
})

t.test('F8: the build command runs in the container alone', { skip }, async (t) => {
  const gitUrl = await serveRepository(t, t.testdir({ source }))
  const before = readdirSync('/opt')
  const { create, untilPhase, logsOf } = await startWith(t, {})
  const prints = 'id -u; git status --short; echo "$(echo $HOME) $GOCACHE"; ls /opt; git ls-remote "ext::sh -c true" || true'
  await create(key, { gitUrl, clonePath: '/src', buildCommand: `sh build.sh; touch /opt/pwn; ${prints}` })
  await untilPhase(key, 'Succeeded')
  const lines = (await logsOf(sampleSpec.jobName)).split('\n')
  const [cloning, refused] = ["Cloning into '/src'...", "fatal: transport 'ext' not allowed"]
  // git writes these two lines to its standard error. A log does not preserve the order between the standard output and the standard error.
  const output = lines.filter((line) => line !== cloning && line !== refused)
  t.strictSame(output, ['1001', '?? helloworld', '/src /src/.cache/go-build', 'pwn'])
  t.ok(lines.includes(cloning) && lines.includes(refused))
  t.strictSame(readdirSync('/opt'), before)
})

t.test('the build ends with the first command that fails', { skip }, async (t) => {
  const { create, untilPhase, logsOf } = await startWith(t, {})
  await create(key, { gitUrl: 'http://host.proreus.internal:1/none.git' })
  await untilPhase(key, 'Failed')
  const logs = await logsOf(sampleSpec.jobName)
  t.match(logs, /fatal: unable to access/)
  t.notMatch(logs, /cd:|cp:/)
})
