/**
 * Runs the test cases of the driver in separate PID, mount and network namespaces. No other program changes the processes, mounts and
 * network links in these namespaces, so the cases can count them. For the cases with subordinate ids, an overlay on /etc adds an
 * unprivileged user with such ids. The machine itself is not changed.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'

/** A uid that no user of this machine has. When root runs the tests, the cases for an unprivileged user run with this uid. */
const uid = 61234

/**
 * A shell script that prepares the new namespaces, and then runs a command in them. The arguments are:
 *
 * - the folder for temporary files
 * - the kind of the `IdMapping`
 * - `yes` if the script runs in a user namespace; otherwise `no`
 * - the command
 *
 * For the kind `single`, /etc/hosts is a mount, as in a container. The shell is PID 1, runs the command as a child, and reaps orphans.
 * NODE_OPTIONS is unset, because tap's options would make Node.js write files to the folder of the user who runs the tests.
 */
const prepare = `
set -e
unset NODE_OPTIONS
folder=$1 ids=$2 userNamespace=$3
shift 3
mount -t tmpfs -o mode=0755 tmpfs "$folder"
mkdir -m 1777 "$folder/tmp"
mkdir "$folder/upper" "$folder/work"
case $ids in
subordinate)
  mount -t overlay -o "lowerdir=/etc,upperdir=$folder/upper,workdir=$folder/work" overlay /etc
  echo 'pods:x:${uid}:${uid}::/tmp:/bin/sh' >>/etc/passwd
  echo '${uid}:100000:65536' >/etc/subuid
  echo 'pods:100000:65536' >/etc/subgid ;;
single)
  cp /etc/hosts "$folder/hosts"
  mount --bind "$folder/hosts" /etc/hosts ;;
esac
[ "$ids" = machine ] || [ "$userNamespace" = yes ] || set -- setpriv --reuid ${uid} --regid ${uid} --clear-groups "$@"
set +e
"$@"
exit $?`

/** Runs the test cases in an environment in which the driver uses an `IdMapping` of the kind `ids`. */
export async function runCases(t: Test, ids: 'machine' | 'subordinate' | 'single'): Promise<void> {
  const cases = join(import.meta.dirname, 'cases/all.ts')
  const command = [process.execPath, '--conditions=proreus-source', cases]
  const folder = mkdtempSync(join(tmpdir(), 'proreus-cases-'))
  chmodSync(folder, 0o755)
  t.teardown(() => rmSync(folder, { recursive: true }))
  const isUnprivileged = process.getuid?.() !== 0
  const isolation = [
    // An unprivileged user can become root in a new user namespace, but this namespace has only one id.
    ...(isUnprivileged ? ['--user', '--map-root-user'] : []),
    ...['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', '--', 'sh', '-c', prepare, 'sh', folder, ids],
    isUnprivileged ? 'yes' : 'no',
  ]
  const reason =
    isUnprivileged && ids !== 'single' ? 'only root can be root or other users' : reasonToSkip([...isolation, 'test', '-r', cases])
  if (reason !== undefined) {
    t.test('the cases of the driver', { skip: reason }, (t) => t.end())
    return
  }
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`,
    TMPDIR: join(folder, 'tmp'),
    PROREUS_IDS: ids,
    TAP: '1',
    TAP_TIMEOUT: '110',
  }
  await t.spawn('unshare', [...isolation, ...command], { env, timeout: 110_000 }, `with ids of the kind ${ids}`)
}

function reasonToSkip(parameters: readonly string[]): string | undefined {
  const { status, stderr, error } = spawnSync('unshare', parameters, { encoding: 'utf8' })
  return status === 0 ? undefined : `${error?.message ?? stderr.trim()} (exit code ${status})`
}
