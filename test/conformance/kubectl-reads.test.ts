/** Tests of kubectl's output for reads: get with every output format, watches, describe, explain, diff. */
import t from 'tap'
import { crd, group, namespace, startWithWidgets, steady, type, widget } from '../support/conformance/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'
import type { Running } from '../support/process/process.ts'

t.test('kubectl reads', needsKubectl, async (t) => {
  const { kubectl, prints } = await startWithWidgets(t)
  await kubectl.ok('create -f -', widget('a', { size: 2 }))
  await kubectl.ok('create -f -', widget('b', { size: 1, color: 'blue' }))
  await kubectl.ok('create -f -', widget('c', { size: 1 }, { labels: { l: '1' } }))

  t.test('get, in every form', async (t) => {
    const object = `apiVersion: ${group}/v1\nkind: Widget\nmetadata:\n  creationTimestamp: "TIME"\n  generation: 1\n  name: a\n  namespace: ${namespace}\n  resourceVersion: RV\n  uid: UID\nspec:\n  color: red\n  size: 2\n`
    await prints(t, [
      ['get widgets', 'NAME  SIZE  AGE\na  2  AGE\nb  1  AGE\nc  1  AGE\n'],
      ['get wd -o wide', 'NAME  SIZE  COLOR  AGE\na  2  red  AGE\nb  1  blue  AGE\nc  1  red  AGE\n'],
      ['get wd -A --no-headers', ['a  2', 'b  1', 'c  1'].map((row) => `${namespace}  ${row}  AGE\n`).join('')],
      ['get wd a -o yaml', object],
      ['get wd a zz', `NAME  SIZE  AGE\na  2  AGE\nError from server (NotFound): ${crd} "zz" not found\n`],
      ['get wd -o name', `${type}/a\n${type}/b\n${type}/c\n`],
      ['get wd/a wd/b -o name', `${type}/a\n${type}/b\n`],
      ['get wd -o custom-columns=N:.metadata.name,S:.spec.size,X:.spec.none', 'N  S  X\na  2  <none>\nb  1  <none>\nc  1  <none>\n'],
      ['get wd -o jsonpath={.items[*].metadata.name}', 'a b c'],
      ['get wd -o go-template={{range(.items)}}{{.metadata.name}};{{end}}', 'a;b;c;'],
      ['get wd --sort-by=.spec.size -o name', `${type}/b\n${type}/c\n${type}/a\n`],
      ['get wd --show-labels', 'NAME  SIZE  AGE  LABELS\na  2  AGE  <none>\nb  1  AGE  <none>\nc  1  AGE  l=1\n'],
      ['get wd -L l', 'NAME  SIZE  AGE  L\na  2  AGE  \nb  1  AGE  \nc  1  AGE  1\n'],
      ['get wd -l l=1 -o name', `${type}/c\n`],
      ['get wd -l l=2', `No resources found in ${namespace} namespace.\n`],
      ['get wd --field-selector spec.color=blue -o name', `${type}/b\n`],
      ['get wd --field-selector spec.size=1', 'Error from server (BadRequest): Unable to find "kubectl.conformance.example.com/v1, Resource=widgets" that match label selector "", field selector "spec.size=1": field label not supported: spec.size\n'], // prettier-ignore
      ['get wd --chunk-size=1 -o name', `${type}/a\n${type}/b\n${type}/c\n`],
      ['get wd --show-kind --no-headers', ['a  2', 'b  1', 'c  1'].map((row) => `${type}/${row}  AGE\n`).join('')],
      ['get all', ['NAME  SIZE  AGE', ...['a  2', 'b  1', 'c  1'].map((row) => `${type}/${row}  AGE`)].join('\n') + '\n'],
      ['get wd a --subresource=scale', 'NAME  DESIRED  AVAILABLE  AGE\na  2  0  AGE\n'],
      ['get nothing', `error: the server doesn't have a resource type "nothing"\n`],
      [`get crd ${crd}`, `NAME  CREATED AT\n${crd}  TIME\n`],
    ])
    t.match(JSON.parse(await kubectl.ok('get wd a -o json')), {
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      spec: { color: 'red', size: 2 },
    })
    t.match(JSON.parse(await kubectl.ok('get wd -o json')), {
      kind: 'List',
      items: [{ kind: 'Widget' }, {}, {}],
      metadata: { resourceVersion: '' },
    })
    t.match(
      await kubectl.ok('get wd a -o yaml --show-managed-fields'),
      / {2}managedFields:\n {2}- apiVersion: .*\n {4}fieldsType: FieldsV1\n/,
    )
  })

  t.test('get --watch prints changes', async (t) => {
    const all = kubectl.start('get wd --watch --output-watch-events')
    const only = kubectl.start('get wd --watch-only -o name')
    let marks = 0
    await until('both watch', async () => {
      await kubectl.ok(`label wd c mark=${(marks += 1)} --overwrite`)
      return [all, only].every((watch) => watch.output().includes(watch === all ? 'MODIFIED' : `${type}/c`))
    })
    await kubectl.ok('create -f -', widget('seen'))
    await kubectl.ok(`patch wd seen --type merge -p '{"spec":{"size":3}}'`)
    await kubectl.ok('delete wd seen')
    const linesOf = (watch: Running): string[] =>
      steady(watch.output())
        .split('\n')
        .filter((line) => line.includes('seen'))
    await until('both have told', async () => [all, only].every((watch) => linesOf(watch).length >= 3))
    t.strictSame(linesOf(all), ['ADDED  seen  1  AGE', 'MODIFIED  seen  3  AGE', 'DELETED  seen  3  AGE']) // prettier-ignore
    t.strictSame(linesOf(only), [`${type}/seen`, `${type}/seen`, `${type}/seen`])
    await kubectl.ok('label wd c mark-')
  })

  t.test('describe and explain', async (t) => {
    const head = `GROUP:  ${group}\nKIND:  Widget\nVERSION:  v1\n\n`
    await prints(t, [
      [
        'describe wd a',
        `Name:  a\nNamespace:  ${namespace}\nLabels:  <none>\nAnnotations:  <none>\nAPI Version:  ${group}/v1\nKind:  Widget\nMetadata:\n  Creation Timestamp:  TIME\n  Generation:  1\n  Resource Version:  RV\n  UID:  UID\nSpec:\n  Color:  red\n  Size:  2\nEvents:  <none>\n`,
      ],
      [
        'explain wd.spec',
        `${head}FIELD: spec <Object>\n\n\nDESCRIPTION:\n  What is wanted.\n  \nFIELDS:\n  color\t<string>\n  enum: red, blue\n  <no description>\n\n  parts\t<[]Object>\n  <no description>\n\n  size\t<integer> -required-\n  How big.\n\n  tags\t<map[string]string>\n  <no description>\n\n\n`,
      ],
      ['explain wd.spec.size', `${head}FIELD: size <integer>\n\n\nDESCRIPTION:\n  How big.\n  \n\n`],
      ['explain wd.spec.nope', `${head}error: field "nope" does not exist\n`],
    ])
    t.match(steady(await kubectl.ok('explain wd')), /^GROUP.*\n[^]*\nDESCRIPTION:\n {2}A widget\.\n[^]*\n {2}metadata\t<ObjectMeta>\n {2}Standard object's metadata\. More info:\n/) // prettier-ignore
    const recursive = await kubectl.ok('explain wd --recursive')
    t.match(recursive, /\n {6}fieldsV1\t<FieldsV1>\n/)
    t.match(
      recursive,
      /\n {2}spec\t<Object>\n {4}color\t<string>\n {4}enum: red, blue\n {4}parts\t<\[\]Object>\n {6}name\t<string>\n {4}size\t<integer> -required-\n/,
    )
  })

  t.test('diff', async (t) => {
    await prints(t, [
      ['diff -f -', '', widget('a', { size: 2 })],
      ['diff -f -', `diff -u -N LIVE/${group}.v1.Widget.${namespace}.a MERGED/${group}.v1.Widget.${namespace}.a\n--- LIVE/${group}.v1.Widget.${namespace}.a\tTIME\n+++ MERGED/${group}.v1.Widget.${namespace}.a\tTIME\n@@ -2,11 +2,11 @@\n kind: Widget\n metadata:\n  creationTimestamp: "TIME"\n-  generation: 1\n+  generation: 2\n  name: a\n  namespace: ${namespace}\n  resourceVersion: RV\n  uid: UID\n spec:\n  color: red\n-  size: 2\n+  size: 3\n`, widget('a', { size: 3 })], // prettier-ignore
    ])
    t.match(await kubectl('diff -f -', widget('new')), { code: 1, stdout: /^\+ {2}name: new$/m })
  })

  t.test('api-resources, api-versions, version, events', async (t) => {
    await prints(t, [
      [`api-resources --api-group=${group}`, `NAME  SHORTNAMES  APIVERSION  NAMESPACED  KIND\nwidgets  wd  ${group}/v1  true  Widget\n`],
      [`api-resources --api-group=${group} -o wide`, `NAME  SHORTNAMES  APIVERSION  NAMESPACED  KIND  VERBS  CATEGORIES\nwidgets  wd  ${group}/v1  true  Widget  delete,deletecollection,get,list,patch,create,update,watch  all\n`], // prettier-ignore
      ['events', `No events found in ${namespace} namespace.\n`],
      ['get --raw /healthz', 'ok'],
    ])
    t.ok((await kubectl.ok('api-versions')).split('\n').includes(`${group}/v1`))
    t.match(await kubectl.ok('version'), /Server Version: v1\.\d+/)
    t.match(await kubectl.ok('cluster-info'), /Kubernetes control plane.* is running at/)
  })
})
