/** Tests of the commands that need no cluster: their output, files and exit codes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ended } from '../support/process/command-line.ts'
import { proreus, repository, type Finished } from '../support/process/process.ts'

type Run = (...args: string[]) => Promise<Finished>

t.test('validate distinguishes valid, invalid and unreadable files by exit code', async (t) => {
  const cwd = t.testdir({
    'valid.yaml': readFileSync(join(repository, 'config/samples/mypod.yaml'), 'utf8'),
    'invalid.yaml': readFileSync(join(repository, 'config/samples/invalid/mypod-several-errors.yaml'), 'utf8'),
    'garbage.yaml': '{{{ : garbage\n',
  })
  const validate: Run = (...args) => ended(t, ['validate', '--operators', 'all', ...args], cwd)
  t.strictSame(await validate('valid.yaml'), { code: 0, stdout: 'valid.yaml: MyPod "mypod-sample" is valid\n', stderr: '' })
  t.match(await proreus(['validate', '--operators', 'all', '-'], { cwd, input: readFileSync(join(cwd, 'valid.yaml'), 'utf8') }), {
    code: 0,
    stdout: '-: MyPod "mypod-sample" is valid\n',
  })

  const invalid = await validate('valid.yaml', 'invalid.yaml')
  t.match(invalid, { code: 1, stderr: '' })
  t.match(invalid.stdout, /invalid\.yaml: The MyPod "mypod-several-errors" is invalid: \n(\* spec\..*\n){2,}$/)

  const unreadable = await validate('invalid.yaml', 'garbage.yaml', 'absent.yaml', 'valid.yaml')
  t.equal(unreadable.code, 2)
  t.match(unreadable.stderr, /^garbage\.yaml: .*\nabsent\.yaml: .*\n$/)
  t.match(unreadable.stdout, /"mypod-sample" is valid\n$/, 'the rest is validated nevertheless')
  t.equal((await validate('garbage.yaml', 'invalid.yaml')).code, 2, 'in any order')

  const json = await validate('-o', 'json', 'valid.yaml', 'invalid.yaml')
  t.equal(json.code, 1)
  const [first, second, ...others] = JSON.parse(json.stdout) as object[]
  t.strictSame(first, { source: 'valid.yaml', known: true, kind: 'MyPod', name: 'mypod-sample', valid: true, errors: [], warnings: [] })
  t.match(second, { source: 'invalid.yaml', valid: false, errors: [{ path: /^spec\./, reason: /^FieldValue/, message: /./ }] })
  t.strictSame(others, [])
})

t.test('validate fails if there is nothing to validate', async (t) => {
  const cwd = t.testdir({ 'comment.yaml': '# nothing yet\n', folder: { 'README.md': 'No manifest.' } })
  const validate = (args: string[], input = '') => proreus(['validate', '--operators', 'all', ...args], { cwd, input })
  t.strictSame(await validate(['-']), { code: 1, stdout: '', stderr: 'There is no object in -, so nothing was validated.\n' })
  t.strictSame(await validate(['comment.yaml', 'folder']), {
    code: 1,
    stdout: '',
    stderr: 'There is no object in comment.yaml, folder, so nothing was validated.\n',
  })
  t.strictSame(await validate(['-o', 'json', 'folder']), {
    code: 1,
    stdout: '[]\n',
    stderr: 'There is no object in folder, so nothing was validated.\n',
  })
})

t.test('validate reports a misspelt kind', async (t) => {
  const cwd = t.testdir({ 'a.yaml': 'apiVersion: harryyann.github.io/v1\nkind: MyPodd\nmetadata: {name: a}\n' })
  t.strictSame(await ended(t, ['validate', '--operators', 'all', 'a.yaml'], cwd), {
    code: 1,
    stdout: 'a.yaml: The MyPodd "a" is invalid: kind: Invalid value: "MyPodd": is not a kind of harryyann.github.io; did you mean MyPod?\n',
    stderr: '',
  })
})

t.test('generate --check reports drift and writes nothing', async (t) => {
  const cwd = t.testdir()
  const generate: Run = (...args) => ended(t, ['generate', '--operators', 'all', ...args], cwd)
  const files = [
    'crd/bases/batch.tutorial.kubebuilder.io_cronjobs.yaml',
    'crd/bases/cache.example.com_memcacheds.yaml',
    'crd/bases/cache.limingnihao.com_memcacheds.yaml',
    'crd/bases/harryyann.github.io_mypods.yaml',
    'crd/bases/mmontes.io_echos.yaml',
    'crd/bases/mmontes.io_scheduledechos.yaml',
    'crd/bases/test.inspur.com_xxxes.yaml',
    'crd/kustomization.yaml',
    'rbac/leader_election_role.yaml',
    'rbac/metrics_reader_role.yaml',
    'rbac/role.yaml',
    'rbac/role_binding.yaml',
    'rbac/user_roles.yaml',
    'rbac/webhook_ca_role.yaml',
    'webhook/manifests.yaml',
  ]
  const listed = (title: string, folder = 'config'): string => files.map((file) => `${title} ${folder}/${file}\n`).join('')
  t.strictSame(await generate('--check'), {
    code: 1,
    stdout: `${listed('not up to date:')}Run the same command without --check and commit the result.\n`,
    stderr: '',
  })
  t.notOk(existsSync(join(cwd, 'config')))
  t.strictSame(await generate('--output', 'other'), { code: 0, stdout: listed('wrote', 'other'), stderr: '' })
  t.strictSame(await generate(), { code: 0, stdout: listed('wrote'), stderr: '' })
  t.strictSame(await generate('--check'), { code: 0, stdout: '', stderr: '' })
  const role = join(cwd, 'config/rbac/role.yaml')
  writeFileSync(role, 'changed')
  writeFileSync(join(cwd, 'config/crd/bases/old.yaml'), 'old')
  const drifted = await generate('--check')
  t.strictSame(drifted, {
    code: 1,
    stdout:
      'not up to date: config/crd/bases/old.yaml\nnot up to date: config/rbac/role.yaml\nRun the same command without --check and commit the result.\n',
    stderr: '',
  })
  t.equal(readFileSync(role, 'utf8'), 'changed')
  t.equal((await generate()).code, 0)
  t.equal((await generate('--check')).code, 0)
  writeFileSync(role, 'changed')
  t.strictSame(await generate('--check'), {
    code: 1,
    stdout: 'not up to date: config/rbac/role.yaml\nRun the same command without --check and commit the result.\n',
    stderr: '',
  })
})

t.test('certificates are issued, shown and verified', async (t) => {
  const cwd = t.testdir()
  const certs: Run = (...args) => ended(t, ['certs', ...args], cwd)
  t.match(await certs('verify'), {
    code: 1,
    stderr: 'certs/tls.crt is missing: `proreus certs issue` makes it.\ncerts/tls.key is missing: `proreus certs issue` makes it.\n',
  })
  const issued = await certs('issue', '--name', 'hooks.example.com')
  t.match(issued, { code: 0, stderr: '' })
  t.match(issued.stdout, /DNS:localhost, DNS:hooks\.example\.com, IP Address:127\.0\.0\.1/)
  t.match(await certs('show'), { code: 0, stdout: issued.stdout })
  t.match(await certs('verify', '--name', 'hooks.example.com', '--ip', '127.0.0.1'), {
    code: 0,
    stdout: 'The certificate in certs is valid.\n',
  })
  t.match(await certs('verify', '--name', 'other.example.com'), { code: 1, stderr: 'certs/tls.crt: not for other.example.com.\n' })
  t.match(await certs('verify', '--ip', '10.0.0.1'), { code: 1, stderr: 'certs/tls.crt: not for 10.0.0.1.\n' })
  t.equal((await certs('issue', '--name', 'hooks.example.com')).stdout, issued.stdout, 'valid certificates are kept')
  const elsewhere = ['--cert-dir', 'other', '--ip', '10.0.0.7', '--ip', '::1'] as const
  const { code, stdout } = await certs('issue', ...elsewhere)
  t.equal(code, 0)
  t.match(stdout, /^other\/ca\.crt\n/)
  t.match(stdout, / names +DNS:localhost, IP Address:127\.0\.0\.1, IP Address:10\.0\.0\.7, IP Address:0:0:0:0:0:0:0:1\n/)
  t.strictSame(await certs('show', '--cert-dir', 'other'), { code: 0, stdout, stderr: '' })
  t.strictSame(await certs('verify', ...elsewhere), { code: 0, stdout: 'The certificate in other is valid.\n', stderr: '' })
  t.strictSame(await certs('verify', '--name', 'a.b', '--ip', '10.0.0.8', '--name', 'c'), {
    code: 1,
    stdout: '',
    stderr: 'certs/tls.crt: not for a.b, c, 10.0.0.8.\n',
  })
})
