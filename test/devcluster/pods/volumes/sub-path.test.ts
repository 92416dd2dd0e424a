import { chmod, mkdir, realpath, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { prepareSubPath } from '../../../../src/devcluster/pods/volumes/sub-path.ts'

t.test('a missing folder is created with the permissions of the volume', async (t) => {
  const volume = await realpath(t.testdir({}))
  await chmod(volume, 0o2770)
  const old = process.umask(0o077)
  t.teardown(() => process.umask(old))
  t.equal(await prepareSubPath(volume, 'a/./b//c/'), join(volume, 'a/b/c'))
  for (const path of ['a', 'a/b', 'a/b/c']) t.equal((await stat(join(volume, path))).mode & 0o7777, 0o2770)
  t.equal(await prepareSubPath(volume, 'a/b/c'), join(volume, 'a/b/c'))
})

t.test('links within the volume are followed, also the volume itself may be a link', async (t) => {
  const folder = await realpath(
    t.testdir({ volume: { '..data': t.fixture('symlink', '..v1'), '..v1': { key: 'x' }, key: t.fixture('symlink', '..data/key') } }),
  )
  await symlink(join(folder, 'volume'), join(folder, 'alias'))
  t.equal(await prepareSubPath(join(folder, 'alias'), 'key'), join(folder, 'volume/..v1/key'))
  await mkdir(join(folder, 'volume/d'))
  await symlink('../..v1', join(folder, 'volume/d/up'))
  t.equal(await prepareSubPath(join(folder, 'volume'), 'd/up/key'), join(folder, 'volume/..v1/key'))
})

t.test('a link that leads out of the volume opens nothing', async (t) => {
  const folder = await realpath(t.testdir({ volume: { d: {} }, outside: { secret: 'x' } }))
  const volume = join(folder, 'volume')
  const links: Readonly<Record<string, string>> = {
    absolute: '/etc',
    own: join(volume, 'd'),
    up: '../outside',
    middle: 'd/../../outside/secret',
    loop: 'loop',
    chain: 'up',
  }
  for (const [name, target] of Object.entries(links)) await symlink(target, join(volume, name))
  for (const name of Object.keys(links)) {
    for (const path of [name, `${name}/new`]) await t.rejects(prepareSubPath(volume, path), { message: /leads out|too many/ }, path)
  }
  await t.rejects(stat(join(folder, 'outside/new')), { code: 'ENOENT' })
  await t.rejects(prepareSubPath(volume, '../outside'), { message: 'subPath "../outside" leads out of the volume' })
})

t.test('a file in the middle of the path is an error', async (t) => {
  const volume = t.testdir({ file: 'x' })
  await t.rejects(prepareSubPath(volume, 'file/x'), { code: 'ENOTDIR' })
  await t.rejects(prepareSubPath(volume, 'x'.repeat(300)), { code: 'ENAMETOOLONG' })
  await t.rejects(prepareSubPath(volume, 'a\0b'), { code: 'ERR_INVALID_ARG_VALUE' })
})
