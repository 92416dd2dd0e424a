/** Tests that users can import every type that occurs in the package's declaration files. */
import { join, relative } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { repository } from './support/process/process.ts'

const entries = ['src/index', 'src/testing/index']
/**
 * The folder of the declaration files, which exist only in memory. The sources are in other folders. If a declaration file were in the
 * folder of its source, the compiler would use the source.
 */
const folder = join(repository, 'declarations')

/** Returns the text of the declaration files that the entry points import, directly or indirectly, keyed by path. */
function emitDeclarations(): Map<string, string> {
  const { config } = ts.readConfigFile(join(repository, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as { config: object }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository)
  const emitting = { ...options, noEmit: false, noCheck: true, declaration: true, stripInternal: true, emitDeclarationOnly: true }
  const program = ts.createProgram(
    entries.map((entry) => join(repository, `${entry}.ts`)),
    { ...emitting, outDir: folder, rootDir: repository },
  )
  const declarations = new Map<string, string>()
  program.emit(undefined, (path, text) => void declarations.set(path, text))
  return declarations
}

const declarations = emitDeclarations()
const host = ts.createCompilerHost({})
const program = ts.createProgram(
  entries.map((entry) => join(folder, `${entry}.d.ts`)),
  { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2024, noCheck: true },
  {
    ...host,
    directoryExists: (path) => path.startsWith(folder) || host.directoryExists!(path),
    fileExists: (path) => declarations.has(path) || host.fileExists(path),
    readFile: (path) => declarations.get(path) ?? host.readFile(path),
    getSourceFile: (path, version) => {
      const text = declarations.get(path)
      return text === undefined ? host.getSourceFile(path, version) : ts.createSourceFile(path, text, version)
    },
  },
)
const checker = program.getTypeChecker()

function target(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** Returns the exports of a module, and the exports of the namespaces that the module exports. */
function exportedBy(module: ts.Symbol): ts.Symbol[] {
  return checker.getExportsOfModule(module).flatMap((symbol) => {
    const found = target(symbol)
    return found.flags & ts.SymbolFlags.Module ? exportedBy(found) : [found]
  })
}

const modules = entries.map((entry) => program.getSourceFile(join(folder, `${entry}.d.ts`))!)
const exported = new Set(modules.flatMap((file) => exportedBy(checker.getSymbolAtLocation(file)!)))

const namesATypeOrValue = ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class | ts.SymbolFlags.Enum

/**
 * Searches a declaration for types of this package that users cannot import, and adds these types to `found`. If the declaration refers to
 * a type alias that its module does not export, the definition of the alias is searched, and the alias itself is not added.
 */
function unnamed(declaration: ts.Node, path: string, seen: Set<ts.Symbol>, found: Map<string, string>): void {
  const visit = (node: ts.Node): void => {
    const name = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : ts.isImportTypeNode(node)
          ? (node.qualifier ?? node)
          : undefined
    const symbol = name && checker.getSymbolAtLocation(name)
    if (symbol) check(target(symbol))
    ts.forEachChild(node, visit)
  }
  const check = (symbol: ts.Symbol): void => {
    const [at] = symbol.declarations ?? []
    const file = at?.getSourceFile().fileName
    if (at === undefined || file === undefined || !declarations.has(file) || exported.has(symbol) || seen.has(symbol)) return
    if (!(symbol.flags & namesATypeOrValue)) return
    seen.add(symbol)
    const isExported = ts.canHaveModifiers(at) && ts.getModifiers(at)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    if (ts.isTypeAliasDeclaration(at) && !isExported) unnamed(at, `${path} > ${symbol.name}`, seen, found)
    else found.set(`${symbol.name} of ${relative(folder, file)}`, path)
  }
  visit(declaration)
}

t.test('every type in a public signature can be imported from the package', async (t) => {
  t.ok(exported.size > 200, `${exported.size} exports were found`)
  const found = new Map<string, string>()
  const seen = new Set<ts.Symbol>()
  for (const symbol of exported)
    for (const declaration of symbol.declarations ?? [])
      if (declarations.has(declaration.getSourceFile().fileName)) unnamed(declaration, symbol.name, seen, found)
  t.strictSame([...found].map(([name, path]) => `${name}, shown by ${path}`).sort(), [])
})

t.test('declarations need only types of packages that are part of the API', async (t) => {
  const packages = new Set<string>()
  for (const file of program.getSourceFiles()) {
    if (!declarations.has(file.fileName)) continue
    for (const { text } of ts.preProcessFile(file.text).importedFiles.map(({ fileName }) => ({ text: fileName })))
      if (!text.startsWith('.') && !text.startsWith('node:')) packages.add(text)
  }
  // These packages declare the types of the logger and of the metrics registry.
  t.strictSame([...packages].sort(), ['pino', 'prom-client'])
})
