import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { Images } from '../../../../src/devcluster/pods/runtime/images.ts'

const containerOf = (more: object): never => ({ name: 'main', image: 'app:1', ...more }) as never

t.test('a container needs a program that is on this machine', async (t) => {
  const folder = t.testdir({ bin: {} })
  writeFileSync(join(folder, 'bin/tool'), '#!/bin/sh\n')
  chmodSync(join(folder, 'bin/tool'), 0o755)
  writeFileSync(join(folder, 'bin/text'), '')
  const images = await Images.read({}, { PATH: join(folder, 'bin') })
  const problemOf = (more: object): string => images.problemOf(containerOf(more), { mode: 'namespaces', ownFolders: ['/own'] }) ?? ''
  t.equal(problemOf({ command: ['tool'] }), '')
  t.equal(problemOf({ args: ['tool', 'argument'] }), '')
  t.equal(problemOf({ command: [join(folder, 'bin/tool')] }), '')
  t.equal(problemOf({ command: ['bin/tool'], workingDir: folder }), '')
  t.equal(problemOf({ command: ['$(TOOL)'] }), '', 'a variable is not known before the start')
  t.match(problemOf({ command: ['absent'] }), 'the program "absent" is not on this machine')
  t.match(problemOf({ command: ['text'] }), `the program "text" cannot be run (permission denied: ${folder}/bin/text)`)
  t.match(problemOf({ command: [`${folder}/bin/text`] }), `cannot be run (permission denied: ${folder}/bin/text)`)
  t.match(problemOf({ command: [`${folder}/bin`] }), 'is not on this machine', 'a folder is no program')
  t.match(problemOf({ command: ['tool'], env: [{ name: 'PATH', value: '/nowhere' }] }), 'the program "tool" is not on this machine')
  const longPath = [{ name: 'PATH', value: '/nowhere:'.repeat(1001) }]
  t.equal(problemOf({ command: ['tool'], env: longPath }), '', 'a long PATH is searched when the container starts')
  const emptyFolders = [{ name: 'PATH', value: `:${'/nowhere:'.repeat(1000)}` }]
  t.equal(problemOf({ command: ['tool'], env: emptyFolders }), '', 'empty folders count')
  const workingDir = join(folder, 'bin')
  t.equal(problemOf({ command: ['tool'], env: [{ name: 'PATH', value: '' }], workingDir }), '', 'an empty folder is the working directory')
  t.match(problemOf({ command: ['/own/bin/tool'] }), 'is in /own, which each container has for itself')
  const volumeMounts = [{ name: 'scripts', mountPath: '/own/scripts/' }]
  t.equal(problemOf({ command: ['/own/scripts/run.sh'], volumeMounts }), '', 'a program in a volume')
  t.equal(problemOf({ command: ['./run.sh'], workingDir: '/own/scripts', volumeMounts }), '')
  t.match(problemOf({ command: ['/own/scripts-2/run.sh'], volumeMounts }), 'is in /own')
  t.match(problemOf({}), 'the container has neither command nor args')
  t.strictSame(images.of(containerOf({})).config, { Env: [`PATH=${join(folder, 'bin')}`] })
})

t.test('without a workingDir, the working directory is / in the mode namespaces, and that of Proreus in the mode plain', async (t) => {
  const folder = relative(process.cwd(), t.testdir({ tool: '#!/bin/sh\n' }))
  chmodSync(join(folder, 'tool'), 0o755)
  const images = await Images.read({})
  const commands = [{ command: [`./${folder}/tool`] }, { command: ['tool'], env: [{ name: 'PATH', value: folder }] }]
  for (const command of commands)
    for (const workingDir of [undefined, '']) {
      const container = containerOf({ ...command, workingDir })
      t.match(images.problemOf(container), 'is not on this machine')
      t.equal(images.problemOf(container, { mode: 'plain', ownFolders: [] }), undefined)
    }
})

const isRoot = process.getuid?.() === 0

t.test('a folder that the user cannot search is the reason', { skip: isRoot && 'root can search every folder' }, async (t) => {
  const folder = join(t.testdir(), 'closed')
  mkdirSync(folder, { mode: 0 })
  const images = await Images.read({}, { PATH: folder })
  const problem = `the program "tool" cannot be run (permission denied: ${folder}/tool)`
  t.match(images.problemOf(containerOf({ command: ['tool'] })), problem)
})

t.test('an image is a folder with an OCI configuration beside it', async (t) => {
  const folder = join(t.testdir(), 'image')
  mkdirSync(folder)
  writeFileSync(
    `${folder}.json`,
    JSON.stringify({ architecture: 'amd64', config: { Entrypoint: ['/run'], Cmd: ['now'], User: '999' }, stopSignal: 'SIGTERM' }),
  )
  const images = await Images.read({ 'app:1': `${folder}/` })
  t.equal(images.problemOf(containerOf({})), undefined)
  t.strictSame(images.of(containerOf({})), {
    folder: `${folder}/`,
    config: { Entrypoint: ['/run'], Cmd: ['now'], User: '999' },
    stopSignal: 'SIGTERM',
  })
  t.match(images.problemOf(containerOf({ image: 'other:1' })), 'neither command nor args')
})

t.test('an unusable folder or configuration is refused', async (t) => {
  const folder = join(t.testdir(), 'image')
  await t.rejects(Images.read({ 'app:1': folder }), {
    code: 'PRO_CONFIG_INVALID',
    message: `The image "app:1": ${folder} is not a folder.`,
  })
  mkdirSync(folder)
  t.equal((await Images.read({ 'app:1': folder })).problemOf(containerOf({ command: ['run'] })), undefined, 'no configuration')
  const wrong: [string, string][] = [
    ['{', ' is not JSON'],
    ['[]', ' is not an OCI image configuration'],
    ['{"config":{"Cmd":"run"}}', ': config.Cmd must be a list of strings'],
    ['{"config":{"User":1}}', ': config.User must be a string'],
  ]
  for (const [text, problem] of wrong) {
    writeFileSync(`${folder}.json`, text)
    await t.rejects(Images.read({ 'app:1': folder }), {
      code: 'PRO_CONFIG_INVALID',
      message: `The image "app:1": ${folder}.json${problem}.`,
    })
  }
})

t.test('a folder that cannot be read is refused', async (t) => {
  const folder = join(t.testdir({ loop: t.fixture('symlink', 'loop') }), 'loop')
  await t.rejects(Images.read({ 'app:1': folder }), {
    code: 'PRO_CONFIG_INVALID',
    message: /^The image "app:1": the folder cannot be read: ELOOP: .*\/loop'\.$/,
  })
})

t.test('a configuration that is no regular file is refused', async (t) => {
  const folder = join(t.testdir(), 'image')
  mkdirSync(folder)
  execFileSync('mkfifo', [`${folder}.json`])
  await t.rejects(Images.read({ 'app:1': folder }), {
    code: 'PRO_CONFIG_INVALID',
    message: `The image "app:1": ${folder}.json cannot be read.`,
    cause: { message: 'not a regular file' },
  })
})
