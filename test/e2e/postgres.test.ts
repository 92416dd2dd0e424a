/**
 * Tests of the PostgreSQL example on `proreus dev --pods=process`. The server is a process of this machine. It starts as root and continues
 * as the user postgres. Its rows are on the volume of a PersistentVolumeClaim.
 */
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { until } from '../../src/testing/until.ts'
import type { Kubectl } from '../support/devcluster/kubectl.ts'
import type { Developer, PodsDevOptions } from '../support/pods/developers.ts'
import { reasonToSkip, startPodsDev, testUser, unprivilegedUser } from '../support/pods/developers.ts'
import { imageProgram, postgresExample, postgresImage } from '../support/pods/postgres-image.ts'
import { finished, needsKubectl } from '../support/process/process.ts'

// The first run on a machine may download PostgreSQL.
t.setTimeout(300_000)

const rolloutMs = 60_000

const image = await postgresImage().catch((error: Error) => error)
t.comment(image instanceof Error ? image.message : `${image.folder}, ${image.origin}`)

for (const [developer, end] of [
  [testUser, 'SIGTERM'],
  [unprivilegedUser, 'SIGKILL'],
] as const) {
  const name = `PostgreSQL of ${developer.name} keeps its rows when its Pod is replaced, and when the cluster ends by ${end}`
  t.test(name, { ...needsKubectl, ...(await optionsFor(developer)) }, (t) => keepsRows(t, developer, end))
}

/** A Pod that runs PostgreSQL as the user in its `securityContext`, and a ConfigMap with scripts that initialize the database. */
const ownUser = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'scripts' },
      data: {
        '1.sql': 'create table rows as select 1 as id',
        '2.sh': 'psql --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --command="insert into rows values (2)"',
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'own-user' },
      spec: {
        securityContext: { runAsUser: 999, runAsGroup: 999, fsGroup: 999, runAsNonRoot: true },
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'postgres',
            image: 'postgres:15',
            env: Object.entries({
              POSTGRES_USER: 'app',
              POSTGRES_DB: 'shop',
              POSTGRES_PASSWORD_FILE: '/password/password',
              PGDATA: '/data/pgdata',
            }).map(([name, value]) => ({ name, value })),
            volumeMounts: [
              { name: 'data', mountPath: '/data' },
              { name: 'password', mountPath: '/password' },
              { name: 'scripts', mountPath: '/docker-entrypoint-initdb.d' },
            ],
          },
        ],
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'password', secret: { secretName: 'db' } },
          { name: 'scripts', configMap: { name: 'scripts' } },
        ],
      },
    },
  ],
}

async function optionsFor(developer: Developer): Promise<{ readonly skip?: string }> {
  if (image instanceof Error) return { skip: image.message }
  const folder = await mkdtemp(join(tmpdir(), 'proreus-check-'))
  try {
    const skip = await reasonToSkip(developer, folder)
    return skip === undefined ? {} : { skip }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function keepsRows(t: Test, developer: Developer, end: NodeJS.Signals): Promise<void> {
  const place = await makePlace(t, developer)
  const dev = await startPodsDev(t, place)
  const { kubectl } = dev
  await kubectl.ok(`apply -f ${join(postgresExample, 'postgres.yaml')}`)
  await kubectl.ok('apply -f -', JSON.stringify(ownUser))
  await kubectl.ok('run client --image=postgres:15 --env=PGPASSWORD=sesame --command -- sleep infinity')
  await untilReady(kubectl)

  // The client runs in another Pod. PostgreSQL requires a password for connections from outside the server's Pod.
  const wrong = await kubectl(`exec client -- env PGPASSWORD=wrong ${psql('select 1')}`)
  t.match(wrong.stderr, /password authentication failed for user "postgres"/)
  await query(kubectl, 'create table rows as select generate_series(1, 1000) as id')
  t.equal(await throughPortForward(kubectl, place.image, 'select count(*) from rows'), '1000')

  // The process of the server and the files of its PersistentVolume do not belong to root.
  t.equal(await kubectl.ok('exec db-0 -- stat --format=%u:%g /proc/1 /var/lib/postgresql/data/PG_VERSION'), '999:999\n999:999\n')
  const volumes = join(place.directory, '.proreus/pods/persistent-volumes')
  const volume = join(volumes, (await readdir(volumes))[0]!)
  if (developer.uidOf999 !== undefined) t.equal((await stat(join(volume, 'PG_VERSION'))).uid, developer.uidOf999)

  // The server in the Pod `own-user` has run the scripts of the ConfigMap.
  const own = 'psql --username=app --dbname=shop --no-psqlrc --tuples-only --no-align --host=127.0.0.1 '
  t.equal(await kubectl.until(`exec own-user -- ${own} '--command=select sum(id) from rows'`, (stdout) => stdout !== ''), '3\n')
  t.equal(await kubectl.ok('exec own-user -- stat --format=%u:%g:%a /data'), '0:999:2777\n')

  const uid = (): Promise<string> => kubectl.ok('get pod db-0 --output=jsonpath={.metadata.uid}')
  const first = await uid()
  await kubectl.ok('delete pod db-0')
  await untilReady(kubectl)
  t.not(await uid(), first, 'the Pod is another one')
  t.match(await kubectl.ok('logs db-0'), /database system was shut down at/, 'its server had ended in good order')
  await query(kubectl, 'insert into rows select generate_series(1001, 2000)')

  await dev.running.stop(end)
  const again = await startPodsDev(t, place)
  await untilReady(again.kubectl)
  t.equal(await query(again.kubectl, 'select count(*) from rows'), '2000')
  t.equal(await throughPortForward(again.kubectl, place.image, 'select max(id) from rows'), '2000')

  // PID 1 of the Pod `client` ignores SIGTERM, so the deletion of this Pod takes the whole grace period.
  await again.kubectl.ok('delete pod client --grace-period=1')
  await again.kubectl.ok('delete statefulset/db pod/own-user pvc/data-db-0')
  const files = async (): Promise<string[]> => [...(await readdir(volumes)), ...(await readdir(join(volumes, '../pods')))]
  await until('the files of all users are removed', async () => (await files()).length === 0)
}

/** Creates the working directory of a developer, and copies the image of PostgreSQL into this directory. */
async function makePlace(t: Test, developer: Developer): Promise<PodsDevOptions & { readonly image: string }> {
  t.testdir()
  if (image instanceof Error) throw image
  const folder = await mkdtemp(join(tmpdir(), 'proreus-postgres-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const [directory, mounts] = [join(folder, 'work'), join(folder, 'mounts')]
  await Promise.all([mkdir(directory), mkdir(mounts)])
  // In practice, a developer creates the image as their own user. Therefore, the files of the copy must belong to the developer, not to
  // root.
  const { code, stderr } = await finished('cp', ['-a', image.folder, `${image.folder}.json`, directory])
  if (code !== 0) throw new Error(`the image could not be copied: ${stderr}`)
  await developer.own(directory)
  const own = join(directory, basename(image.folder))
  return { developer, directory, folder: mounts, images: { 'postgres:15': own }, image: own }
}

/**
 * Resolves when the client can connect to the server by its name. The conditions of the Pods are not sufficient, because they are outdated
 * for some time after a restart of the cluster.
 */
async function untilReady(kubectl: Kubectl): Promise<void> {
  await kubectl.ok(`rollout status statefulset/db --timeout=${rolloutMs}ms`)
  await kubectl.ok(`wait pod/client --for=condition=Ready --timeout=${rolloutMs}ms`)
  // The name ends with a dot, so it is looked up only in the cluster. Without the dot, the resolver could also ask the name servers of this
  // machine, which can be slow.
  await kubectl.until('exec client -- getent hosts db-0.db.default.svc.cluster.local.', (stdout) => stdout !== '')
  await kubectl.until('exec client -- pg_isready --host=db-0.db', (stdout) => stdout.includes('accepting connections'))
}

function psql(sql: string): string {
  return `psql --host=db-0.db --username=postgres --no-psqlrc --tuples-only --no-align --quiet '--command=${sql}'`
}

/** Runs SQL with `psql` in the Pod of the client. */
async function query(kubectl: Kubectl, sql: string): Promise<string> {
  return (await kubectl.ok(`exec client -- ${psql(sql)}`)).trim()
}

/** Runs SQL with `psql` on this machine, over `kubectl port-forward`. */
async function throughPortForward(kubectl: Kubectl, image: string, sql: string): Promise<string> {
  const forwarding = kubectl.start('port-forward service/db :5432')
  const port = await until('the port is forwarded', () => /127\.0\.0\.1:(\d+) -> 5432/.exec(forwarding.output())?.[1])
  const [program = '', ...words] = imageProgram(image, 'psql')
  const options = ['--host=127.0.0.1', `--port=${port}`, '--username=postgres', '--no-psqlrc', '--tuples-only', '--no-align']
  const { stdout, stderr } = await finished(program, [...words, ...options, `--command=${sql}`], {
    env: { ...process.env, PGPASSWORD: 'sesame' },
  })
  await forwarding.stop()
  if (stderr !== '') throw new Error(stderr)
  return stdout.trim()
}
