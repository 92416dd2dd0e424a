/** Tests of kubectl's output for writes: create, replace, patch, edit, client-side and server-side apply, wait, delete. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { configMap, crd, group, namespace, startWithWidgets, type, widget } from '../support/conformance/kubectl.ts'
import type { Finished } from '../support/process/process.ts'
import { needsKubectl } from '../support/process/process.ts'

/**
 * The path of the script that `kubectl edit` runs as the editor. Each case writes the script. kubectl inherits the variable KUBE_EDITOR
 * from this process.
 */
const editor = join(t.testdir(), 'editor')
process.env.KUBE_EDITOR = editor

t.test('kubectl writes', needsKubectl, async (t) => {
  const { kubectl, prints } = await startWithWidgets(t)

  t.test('create', async (t) => {
    const bad = (problem: string): string =>
      `Error from server (BadRequest): error when creating "STDIN": Widget in version "v1" cannot be handled as a Widget: ${problem}\n`
    await prints(t, [
      ['create -f -', `${type}/a created\n`, widget('a', { size: 2 })],
      ['create -f -', `Error from server (AlreadyExists): error when creating "STDIN": ${crd} "a" already exists\n`, widget('a')],
      ['create -f -', bad('strict decoding error: unknown field "spec.foo"'), widget('b', { size: 1, foo: 1 })],
      [
        'create --validate=warn -f -',
        `${type}/b created\nWarning: unknown field "spec.foo"\n`,
        widget('b', { size: 1, foo: 1, color: 'blue' }),
      ],
      ['create --validate=ignore -f -', `${type}/c created\n`, widget('c', { size: 1, foo: 1 }, { labels: { l: '1' } })],
      ['create -f -', 'The Widget "d" is invalid: spec.size: Required value\n', widget('d', {})],
      [
        'create -f -',
        'The Widget "d" is invalid: \n* spec.color: Unsupported value: "green": supported values: "red", "blue"\n* spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1\n',
        widget('d', { size: 0, color: 'green' }),
      ],
      ['create --dry-run=server -f -', `${type}/d created (server dry run)\n`, widget('d')],
      [
        'create -f -',
        'Error from server (NotFound): error when creating "STDIN": namespaces "conformance-nowhere" not found\n',
        widget('d', { size: 1 }, { namespace: 'conformance-nowhere' }),
      ],
    ])
  })

  t.test('replace, patch, label, annotate, scale, edit', async (t) => {
    const patch = (form: string, body: unknown): string => `patch wd a --type ${form} -p '${JSON.stringify(body)}'`
    const invalid = 'The Widget "a" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1\n'
    await prints(t, [
      ['replace -f -', `${type}/a replaced\n`, widget('a', { size: 4 })],
      ['replace -f -', `Error from server (NotFound): error when replacing "STDIN": ${crd} "nope" not found\n`, widget('nope')],
      ['replace --force -f -', `${type} "a" deleted from ${namespace} namespace\n${type}/a replaced\n`, widget('a', { size: 5 })],
      [patch('merge', { spec: { size: 6 } }), `${type}/a patched\n`],
      [patch('merge', { spec: { size: 6 } }), `${type}/a patched (no change)\n`],
      [patch('merge', { spec: { size: 0 } }), invalid],
      [patch('json', [{ op: 'replace', path: '/spec/size', value: 7 }]), `${type}/a patched\n`],
      [patch('json', [{ op: 'test', path: '/spec/size', value: 99 }]), 'The request is invalid: the server rejected our request due to an error in our request\n'], // prettier-ignore
      [patch('strategic', { spec: { size: 1 } }), `error: application/strategic-merge-patch+json is not supported by ${group}/v1, Kind=Widget: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml\n`], // prettier-ignore
      [`${patch('merge', { status: { phase: 'Done', conditions: [{ type: 'Ready', status: 'True' }] } })} --subresource status`, `${type}/a patched\n`], // prettier-ignore
      [`${patch('merge', { spec: { size: 9 } })} --dry-run=server -o jsonpath={.spec.size}`, '9'],
      ['label wd a x=y', `${type}/a labeled\n`],
      ['label wd a x=z', "error: 'x' already has a value (y), and --overwrite is false\n"],
      ['label wd a x=z --overwrite', `${type}/a labeled\n`],
      ['label wd a --list', 'x=z\n'],
      ['label wd a x-', `${type}/a unlabeled\n`],
      ['label wd --all all=1', ['a', 'b', 'c'].map((name) => `${type}/${name} labeled\n`).join('')],
      ['annotate wd a n=1', `${type}/a annotated\n`],
      ['annotate wd a n-', `${type}/a annotated\n`],
      ['scale wd a --replicas=3', `${type}/a scaled\n`],
      ['scale wd a --replicas=4 --current-replicas=9', 'error: Expected replicas to be 9, was 3\n'],
      ['get wd a -o jsonpath={.spec.size},{.status.phase},{.metadata.generation}', '3,Done,4'],
    ])
    const edit = (script: string): Promise<Finished> => {
      writeFileSync(editor, `#!/bin/sh\n${script}\n`, { mode: 0o700 })
      return kubectl('edit wd a')
    }
    t.match(await edit('sed -i "s/size:.*/size: 8/" "$1"'), { code: 0, stdout: `${type}/a edited\n` })
    t.match(await edit('true'), { code: 0, stderr: 'Edit cancelled, no changes made.\n' })
    t.match(await edit('sed -i "s/size:.*/size: 0/" "$1"'), {
      code: 1,
      stderr: /^error: widgets\.kubectl\.conformance\.example\.com "a" is invalid\n/,
    })
    t.equal(await kubectl.ok('get wd a -o jsonpath={.spec.size}'), '8')
  })

  t.test('wait', async (t) => {
    await prints(t, [
      ['wait wd/a --for=condition=Ready --timeout=5s', `${type}/a condition met\n`],
      ['wait wd/a --for=jsonpath={.status.phase}=Done --timeout=5s', `${type}/a condition met\n`],
      ['wait wd/a --for=condition=Nope --timeout=1s', 'error: timed out waiting for the condition on widgets/a\n'],
      ['wait wd --all --for=create --timeout=5s', ['a', 'b', 'c'].map((name) => `${type}/${name} condition met\n`).join('')],
      ['wait wd/zz --for=delete --timeout=5s', ''],
    ])
    const created = kubectl('wait wd/late --for=create --timeout=10s')
    await kubectl.ok('create -f -', widget('late'))
    t.equal((await created).stdout, `${type}/late condition met\n`)
    const deleted = kubectl('wait wd/late --for=delete --timeout=10s')
    await kubectl.ok('delete wd late')
    t.match(await deleted, { code: 0 })
  })

  t.test('client-side and server-side apply, and the migration between them', async (t) => {
    const lastApplied = `get wd ap -o jsonpath={.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}`
    const applied = (size: number): string =>
      `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"annotations":{},"name":"ap","namespace":"${namespace}"},"spec":{"size":${size}}}\n`
    await prints(t, [
      ['apply -f -', `${type}/ap created\n`, widget('ap', { size: 1, color: 'blue' })],
      ['apply -f -', `${type}/ap unchanged\n`, widget('ap', { size: 1, color: 'blue' })],
      ['apply -f -', `${type}/ap configured\n`, widget('ap', { size: 2 })],
      ['get wd ap -o jsonpath={.spec}', '{"color":"red","size":2}'],
      [lastApplied, applied(2)],
      ['apply --server-side -f -', `${type}/ap serverside-applied\n`, widget('ap', { size: 3 })],
      [lastApplied, applied(3).replace('"annotations":{},', '')],
      ['apply -f -', `${type}/ap configured\n`, widget('ap', { size: 4 })],
      ['apply --server-side -f -', `${type}/ss serverside-applied\n`, widget('ss', { size: 1 })],
      ['apply --server-side --field-manager=other --force-conflicts -f -', `${type}/ss serverside-applied\n`, widget('ss', { size: 2 })],
      ['apply --server-side --dry-run=server -f -', `${type}/dry serverside-applied (server dry run)\n`, widget('dry')],
      ['apply --dry-run=server -f -', `${type}/dry created (server dry run)\n`, widget('dry')],
      ['apply --dry-run=client -f -', `${type}/dry created (dry run)\n`, widget('dry')],
      ['get wd ap ss dry -o name --ignore-not-found', `${type}/ap\n${type}/ss\n`],
      ['delete wd ap ss', ['ap', 'ss'].map((name) => `${type} "${name}" deleted from ${namespace} namespace\n`).join('')],
    ])
    await kubectl.ok('apply --server-side -f -', widget('cf', { size: 1 }))
    t.match((await kubectl('apply --server-side --field-manager=other -f -', widget('cf', { size: 2 }))).stderr, /^error: Apply failed with 1 conflict: conflict with "kubectl": \.spec\.size\nPlease review the fields above/) // prettier-ignore
    await prints(t, [
      ['apply -f -', 'configmap/one created\n', configMap('one', { a: '1' }, { labels: { p: '1' } })],
      ['apply -f -', 'configmap/two created\n', configMap('two', { a: '1' }, { labels: { p: '1' } })],
      ['apply --prune -l p=1 --prune-allowlist=core/v1/ConfigMap -f -', 'configmap/one configured\nconfigmap/two pruned\n', configMap('one', { a: '2' }, { labels: { p: '1' } })], // prettier-ignore
      [`patch cm one -p '{"data":{"b":"2"}}'`, 'configmap/one patched\n'],
      ['get cm one -o jsonpath={.data}', '{"a":"2","b":"2"}'],
      ['get cm one', 'NAME  DATA  AGE\none  2  AGE\n'],
    ])
    // Without `--prune-allowlist`, `kubectl apply --prune` reads the objects of several built-in types, including ReplicationControllers.
    // The command fails if the API server does not have one of these types.
    await kubectl.ok('apply -f -', configMap('three', { a: '1' }, { labels: { p: '2' } }))
    const pruned = await kubectl.ok('apply --prune -l p=2 -f -', configMap('four', { a: '1' }, { labels: { p: '2' } }))
    t.match(pruned, /^configmap\/four created\nconfigmap\/three pruned\n/)
  })

  t.test('delete', async (t) => {
    const deleted = (name: string): string => `${type} "${name}" deleted from ${namespace} namespace\n`
    for (const name of ['d1', 'd2', 'd3', 'd4']) await kubectl.ok('create -f -', widget(name, { size: 1 }, { labels: { d: '1' } }))
    await prints(t, [
      ['delete wd d1 --dry-run=server', `${type} "d1" deleted from ${namespace} namespace (server dry run)\n`],
      ['delete wd d1 --wait=false', deleted('d1')],
      ['delete wd d1', `Error from server (NotFound): ${crd} "d1" not found\n`],
      ['delete wd d1 --ignore-not-found', ''],
      ['delete wd d2 --cascade=background', deleted('d2')],
      ['delete wd -l d=1', deleted('d3') + deleted('d4')],
      ['delete cm one --grace-period=0 --force', `configmap "one" force deleted from ${namespace} namespace\nWarning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n`], // prettier-ignore
      ['delete wd --all', ['a', 'b', 'c', 'cf'].map(deleted).join('')],
    ])
  })
})
