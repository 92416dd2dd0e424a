import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { prepareHostPath } from '../../../../src/devcluster/pods/volumes/host-path.ts'

/** The expected results are those of k8s.io/kubernetes/pkg/volume/hostpath/host_path.go: checkTypeInternal. */
t.test('each type accepts what it names, and refuses everything else', async (t) => {
  const folder = t.testdir({ folder: {}, file: 'x', toFile: t.fixture('symlink', 'file'), dangling: t.fixture('symlink', 'nowhere') })
  // The path of a Unix socket is limited to about 100 bytes, so the socket is in a folder with a short path.
  const short = await mkdtemp(join(tmpdir(), 's-'))
  t.teardown(() => rm(short, { recursive: true }))
  const socket = join(short, 's')
  const server = createServer().listen(socket)
  await once(server, 'listening')
  t.teardown(() => server.close())
  const paths: Readonly<Record<string, string>> = {
    folder: join(folder, 'folder'),
    file: join(folder, 'file'),
    toFile: join(folder, 'toFile'),
    socket,
    char: '/dev/null',
    missing: join(folder, 'missing'),
    dangling: join(folder, 'dangling'),
  }
  const facts: Readonly<Record<string, { readonly accepts: readonly string[]; readonly word: string }>> = {
    Directory: { accepts: ['folder'], word: 'directory' },
    File: { accepts: ['file', 'toFile'], word: 'file' },
    Socket: { accepts: ['socket'], word: 'socket file' },
    CharDevice: { accepts: ['char'], word: 'character device' },
    BlockDevice: { accepts: [], word: 'block device' },
  }
  for (const [type, { accepts, word }] of Object.entries(facts)) {
    for (const [name, path] of Object.entries(paths)) {
      const title = `${type}: ${name}`
      if (accepts.includes(name)) t.equal(await prepareHostPath({ path, type }), path, title)
      else await t.rejects(prepareHostPath({ path, type }), { message: `hostPath type check failed: ${path} is not a ${word}` }, title)
    }
  }
  await t.rejects(prepareHostPath({ path: paths['file']!, type: 'DirectoryOrCreate' }), { message: /is not a directory$/ })
  await t.rejects(prepareHostPath({ path: paths['folder']!, type: 'FileOrCreate' }), { message: /is not a file$/ })
  await t.rejects(prepareHostPath({ path: '/', type: 'Other' }), { message: 'Other is an invalid volume type' })
})

t.test('what the type allows is created', async (t) => {
  const folder = t.testdir({})
  const old = process.umask(0o022)
  t.teardown(() => process.umask(old))
  for (const type of ['DirectoryOrCreate', '']) {
    const path = join(folder, `d${type}/deep`)
    await prepareHostPath({ path, type })
    t.equal((await stat(path)).mode & 0o7777, 0o755)
    await prepareHostPath({ path, type })
  }
  await prepareHostPath({ path: join(folder, 'f'), type: 'FileOrCreate' })
  t.ok((await stat(join(folder, 'f'))).isFile())
  await t.rejects(prepareHostPath({ path: join(folder, 'no/f'), type: 'FileOrCreate' }), { code: 'ENOENT' })
})

t.test('a path with .. or without a root is refused', async (t) => {
  await t.rejects(prepareHostPath({ path: '/tmp/../etc' }), { message: "invalid HostPath `/tmp/../etc`: must not contain '..'" })
  await t.rejects(prepareHostPath({ path: 'etc' }), { message: 'invalid HostPath `etc`: must be an absolute path' })
})
