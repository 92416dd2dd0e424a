/** Tests of paths in the file system of a container that does not run yet. */
import { join } from 'node:path'
import t from 'tap'
import { RootView } from '../../../../src/devcluster/pods/namespaces/root-view.ts'

t.test('symbolic links lead to files of the container', async (t) => {
  const folder = t.testdir({
    upper: { new: {} },
    lower: {
      etc: { hosts: '' },
      run: { inner: { file: 'x' } },
      var: {
        run: t.fixture('symlink', '/run'),
        up: t.fixture('symlink', '../../../../etc/hosts'),
        same: t.fixture('symlink', 'run/inner'),
      },
      loop: t.fixture('symlink', 'loop'),
      dangling: t.fixture('symlink', '/not/there'),
    },
    volume: { data: { link: t.fixture('symlink', '/etc/hosts') } },
  })
  const view = new RootView()
  view.add({ path: '/', sources: [join(folder, 'upper'), join(folder, 'lower')], kind: 'overlay' })
  view.add({ path: '/run/volume', sources: [join(folder, 'volume')], kind: 'writable' })
  view.add({ path: '/proc', sources: [], kind: 'kernel' })
  for (const [path, resolved, existing] of [
    ['/', '/', '/'],
    ['/etc/hosts', '/etc/hosts', '/etc/hosts'],
    ['/var/run/secrets/x', '/run/secrets/x', '/run'],
    ['/var/up', '/etc/hosts', '/etc/hosts'],
    ['/var/same/file', '/run/inner/file', '/run/inner/file'],
    ['/var/run/volume/data/link', '/etc/hosts', '/etc/hosts'],
    ['/var/run/volume/new', '/run/volume/new', '/run/volume'],
    ['/var/../etc/./hosts', '/etc/hosts', '/etc/hosts'],
    ['/../../etc', '/etc', '/etc'],
    ['/new/a', '/new/a', '/new'],
    ['/dangling/b', '/not/there/b', '/'],
    ['/proc/1/root/etc', '/proc/1/root/etc', '/proc/1/root/etc'],
    ['/etc/hosts/below', '/etc/hosts/below', '/etc/hosts'],
  ] as const)
    t.match(await view.resolve(path), { path: resolved, existing }, path)
  t.equal((await view.resolve('/var/up')).stats?.isFile(), true)
  await t.rejects(view.resolve('/loop/x'), /\/loop\/x: too many levels of symbolic links/)
  t.strictSame(view.hostPaths('/run/volume/data'), [join(folder, 'volume/data')])
})

t.test('a path that is too long for Linux is an error', async (t) => {
  const long = 'd'.repeat(200)
  const folder = t.testdir({ link: t.fixture('symlink', `../`.repeat(600) + `${long}/`.repeat(10)) })
  const view = new RootView()
  view.add({ path: '/', sources: [folder], kind: 'writable' })
  t.match(await view.resolve('/..'.repeat(1365)), { path: '/' })
  await t.rejects(view.resolve('/..'.repeat(1366)), { message: `/${'../'.repeat(21)}…: file name too long` })
  t.match(await view.resolve(`/link/${long}`), { existing: '/' })
  await t.rejects(view.resolve(`/link${`/${long}`.repeat(11)}`), /file name too long/)
})
