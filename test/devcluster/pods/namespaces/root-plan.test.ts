/** Tests of the file system that a container sees before its volumes are mounted. */
import { join } from 'node:path'
import t from 'tap'
import { planRoot } from '../../../../src/devcluster/pods/namespaces/root-plan.ts'

t.test('an image is one overlay', async (t) => {
  const source = t.testdir({ bin: {} })
  const entries = await planRoot({ source, isWithoutOverlay: () => false, isHidden: () => false, mountPoints: ['/bin/x'] })
  t.match(entries, [{ kind: 'overlay', path: '/', source }])
})

t.test('folders with mounts below them become new folders', async (t) => {
  const source = t.testdir({
    data: { inside: {}, mounted: { below: {} }, file: 'x', link: t.fixture('symlink', 'file') },
    proc: { 1: {} },
    tmp: { file: 'x' },
    usr: { bin: {} },
    bin: t.fixture('symlink', 'usr/bin'),
    broken: {},
    secret: {},
  })
  const at = (path: string): string => join(source, path)
  const entries = await planRoot({
    source,
    isWithoutOverlay: (folder) => [source, at('broken')].includes(folder),
    isHidden: (path) => path === at('secret'),
    mountPoints: ['/', '/data/mounted', '/proc/1', '/usr'],
  })
  t.strictSame(entries.map(({ kind, path }) => `${kind} ${path}`).sort(), [
    'bind /broken',
    'bind /data/file',
    'folder /data',
    'folder /dev',
    'folder /proc',
    'folder /run',
    'folder /sys',
    'folder /tmp',
    'link /bin',
    'link /data/link',
    'overlay /data/inside',
    'overlay /data/mounted',
    'overlay /usr',
  ])
  const paths = entries.map(({ path }) => path)
  t.ok(paths.indexOf('/data') < paths.indexOf('/data/inside'), 'a folder comes before what is in it')
})
