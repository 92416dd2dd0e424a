/** Cases of file systems: the root, images, volumes, and the effects of containers on the files of the machine. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { ContainerStartError } from '../../../../../src/devcluster/pods/driver.ts'
import { outcome, run, start, world } from './driver.ts'

function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'files-'))
}

t.test('a container changes a copy of the root of the machine', async (t) => {
  const one = await (await world(t)).pod()
  const before = readdirSync('/').sort()
  const changes =
    'echo a >/etc/new-file && echo b >/new-file && mkdir /opt/new && rm -rf /tmp/* && echo c >/root/new-file && cat /etc/new-file /new-file'
  t.match(await run(one, changes), { code: 0, stdout: 'a\nb\n', stderr: '' })
  t.match(await run(one, 'ls /new-file /etc/new-file'), { stdout: '' }, 'the next container has another copy')
  t.strictSame(readdirSync('/').sort(), before)
  t.notOk(readdirSync('/etc').includes('new-file'))
  t.notOk(readdirSync('/opt').includes('new'))
})

t.test('a read-only root', async (t) => {
  const one = await (await world(t)).pod()
  const writable = temporaryFolder()
  const script =
    'for file in /new /etc/new /tmp/new /run/new /usr/new /root/new; do echo 2>/dev/null >$file && echo "$file is writable"; done; echo a >/dev/shm/b; echo x >/data/x; cat /data/x'
  const options = { isRootReadOnly: true, mounts: [{ source: writable, target: '/data', isReadOnly: false }] }
  t.match(await run(one, script, options), { code: 0, stdout: 'x\n', stderr: '' })
  t.equal(readFileSync(join(writable, 'x'), 'utf8'), 'x\n')
})

t.test('volumes are mounted at new and old paths, read-only and writable', async (t) => {
  const one = await (await world(t)).pod()
  const [data, config] = [temporaryFolder(), temporaryFolder()]
  writeFileSync(join(config, 'setting'), 'on')
  writeFileSync(join(config, 'hosts'), '10.1.2.3 example\n')
  const optBefore = readdirSync('/opt').sort()
  const shareBefore = readdirSync('/usr/share').sort()
  const mounts = [
    { source: join(data, 'nested'), target: '/opt/new/path/nested/deep', isReadOnly: false },
    { source: data, target: '/opt/new/path', isReadOnly: false },
    { source: config, target: '/usr/share/new folder/{a}\\#', isReadOnly: true },
    { source: config, target: '/etc/alternatives', isReadOnly: true },
    { source: join(config, 'hosts'), target: '/etc/hosts', isReadOnly: true },
    { source: join(config, 'setting'), target: '/var/run/secrets/app/setting', isReadOnly: true },
    { source: join(config, 'setting'), target: '/usr/lib/new/../new/setting', isReadOnly: true },
    { source: data, target: '/dev/shm', isReadOnly: false },
  ]
  mkdirSync(join(data, 'nested'))
  writeFileSync(join(data, 'nested/inside'), '')
  const script = `
    echo hello >/opt/new/path/greeting
    ls /opt/new/path/nested/deep
    cat "/usr/share/new folder/{a}\\\\#/setting" /etc/alternatives/setting /run/secrets/app/setting /usr/lib/new/setting; echo
    cat /etc/hosts
    ls /dev/shm
    echo 2>/dev/null >/etc/alternatives/new || echo refused
    echo 2>/dev/null >/etc/hosts || echo refused
    stat -c %a /opt /usr/share`
  const modes = ['/opt', '/usr/share'].map((path) => `${(statSync(path).mode & 0o7777).toString(8)}\n`).join('')
  const expected = `inside\nonononon\n10.1.2.3 example\ngreeting\nnested\nrefused\nrefused\n${modes}`
  t.match(await run(one, script, { mounts }), { code: 0, stdout: expected, stderr: '' })
  t.equal(readFileSync(join(data, 'greeting'), 'utf8'), 'hello\n')
  t.strictSame(readdirSync(join(data, 'nested')).sort(), ['deep', 'inside'])
  t.strictSame(readdirSync('/opt').sort(), optBefore)
  t.strictSame(readdirSync('/usr/share').sort(), shareBefore)
})

t.test('the file mode creation mask of Proreus reaches no container', async (t) => {
  const mask = process.umask(0o077)
  t.teardown(() => process.umask(mask))
  const one = await (await world(t)).pod()
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  const mounts = ['/opt/new/path', '/usr/share/new/path', '/run/new'].map((target) => ({ source: folder, target, isReadOnly: true }))
  const user = { uid: 999, gid: 999, supplementalGroups: [] }
  const script =
    'umask; stat -c %a / /dev /dev/shm /opt /opt/new /usr/share /usr/share/new /run /tmp; ls /opt/new/path /usr/share/new/path /run/new'
  const { stdout } = await run(one, script, { mounts, user })
  t.match(stdout, /^0022\n755\n755\n1777\n755\n755\n755\n755\n755\n1777\n\/opt\/new\/path:\n\n\/run\/new:\n\n\/usr\/share\/new\/path:\n$/)
})

t.test('a changed link in a volume shows at once', async (t) => {
  const one = await (await world(t)).pod()
  const folder = temporaryFolder()
  for (const version of ['1', '2']) mkdirSync(join(folder, version))
  for (const version of ['1', '2']) writeFileSync(join(folder, version, 'value'), version)
  symlinkSync('1', join(folder, '..data'))
  const container = await start(one, ['sleep', '1000'], { mounts: [{ source: folder, target: '/config', isReadOnly: true }] })
  const read = async (): Promise<string> =>
    (await outcome(await container.execute({ command: ['cat', '/config/..data/value'], tty: false, stdin: false }))).stdout
  t.equal(await read(), '1')
  symlinkSync('2', join(folder, '..new'))
  execFileSync('mv', ['-T', join(folder, '..new'), join(folder, '..data')])
  t.equal(await read(), '2')
})

t.test('a mount that is impossible is an error of the start', async (t) => {
  const one = await (await world(t)).pod()
  const source = temporaryFolder()
  for (const [mount, message] of [
    [{ source: join(source, 'missing'), target: '/data' }, /cannot mount .*missing at \/data/],
    [{ source, target: '/' }, /nothing can be mounted at \/ or in \/proc/],
    [{ source, target: '/proc/new' }, /nothing can be mounted at \/ or in \/proc/],
    [{ source, target: '/etc/passwd' }, /etc\/passwd/],
  ] as const) {
    const error = await start(one, ['true'], { mounts: [{ ...mount, isReadOnly: false }] }).catch((error: unknown) => error)
    t.ok(error instanceof ContainerStartError, String(error))
    t.match((error as Error).message, message)
  }
})

t.test('the containers of a Pod share /dev/shm, but not their other files', async (t) => {
  const { pod } = await world(t)
  const [one, two] = [await pod(), await pod()]
  const list = 'ls /dev/shm /tmp'
  t.equal((await run(one, 'echo a >/dev/shm/a; echo b >/tmp/b')).code, 0)
  t.equal((await run(one, list)).stdout, '/dev/shm:\na\n\n/tmp:\n')
  t.equal((await run(two, list)).stdout, '/dev/shm:\n\n/tmp:\n')
})

t.test('/proc, /dev and /sys', async (t) => {
  const one = await (await world(t)).pod()
  const script = `
    ls -d /proc/[0-9]*
    ls /dev | tr '\\n' ' '
    head -c 3 /dev/zero | od -An -tx1
    echo x >/dev/null
    ls /sys/class/net | tr '\\n' ' '
    echo 1 2>/dev/null >/proc/sys/kernel/panic || echo refused`
  const { stdout } = await run(one, script)
  t.match(
    stdout,
    /^\/proc\/1\n(\/proc\/\d+\n){0,2}fd full null ptmx pts random shm stderr stdin stdout tty urandom zero {2}00 00 00\neth0 lo refused\n$/,
  )
})

/**
 * Creates an image that contains a shell and no other program. In the image, /bin is a symbolic link with the absolute target /programs. If
 * the target is not resolved relative to the root of the image, the link refers to /programs on the machine that runs the test.
 */
function makeImage(): string {
  const image = temporaryFolder()
  chmodSync(image, 0o755)
  const shell = execFileSync('sh', ['-c', 'readlink -f "$(command -v sh)"'], { encoding: 'utf8' }).trim()
  mkdirSync(join(image, 'programs'))
  symlinkSync('/programs', join(image, 'bin'))
  copyFileSync(shell, join(image, 'programs/sh'))
  for (const [, library] of execFileSync('ldd', [shell], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)) {
    mkdirSync(join(image, dirname(library!)), { recursive: true })
    copyFileSync(library!, join(image, library!))
  }
  writeFileSync(join(image, 'about'), 'tiny')
  return image
}

t.test('an image needs no programs but its own, and stays as it is', async (t) => {
  const one = await (await world(t)).pod()
  const image = makeImage()
  const files = (): string => execFileSync('find', ['.', '-printf', '%p %m %T@\n'], { cwd: image, encoding: 'utf8' })
  const before = files()
  const volume = temporaryFolder()
  writeFileSync(join(volume, 'file'), 'volume\n')
  const script =
    'read -r about </about; echo "$about"; echo /*; echo changed >/about; read -r line </opt/a/file; echo "$line"; echo $$; exit 8'
  const options = {
    image,
    mounts: [{ source: volume, target: '/opt/a', isReadOnly: true }],
    user: { uid: 1000, gid: 1000, supplementalGroups: [] },
  }
  const libraries = readdirSync(image).filter((name) => name.startsWith('lib'))
  const found = ['about', 'bin', 'dev', ...libraries, 'opt', 'proc', 'programs', 'sys']
    .map((name) => `/${name}`)
    .sort()
    .join(' ')
  t.match(await run(one, script, { ...options, user: { uid: 0, gid: 0, supplementalGroups: [] } }), {
    code: 8,
    stdout: `tiny\n${found}\nvolume\n1\n`,
    stderr: '',
  })
  t.equal(files(), before)
  const container = await start(one, ['sh', '-c', 'read -r line'], { ...options, stdin: true })
  const exec = await container.execute({ command: ['/bin/sh', '-c', 'echo /programs/*; exit 2'], tty: false, stdin: false })
  t.match(await outcome(exec), { code: 2, stdout: '/programs/sh\n', stderr: '' })
  container.stdin!.end('\n')
  t.equal(await container.exited, 0)
  await t.rejects(start(one, ['ls'], { image }), new ContainerStartError('exec: "ls": executable file not found in $PATH'))
  t.match(await run(one, 'echo x >/new', { image, isRootReadOnly: true }), { code: 2, stderr: /Read-only file system/ })
})
