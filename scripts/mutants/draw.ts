import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** A mutation of a file: `to` replaces the characters from `start` to `end`. */
export interface DrawnMutant {
  readonly file: string
  readonly line: number
  readonly start: number
  readonly end: number
  readonly from: string
  readonly to: string
}

const operators: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
])

/** Mutations of SQL: patterns and their replacements. */
const sqlWords: readonly (readonly [RegExp, string])[] = [
  [/ <= /g, ' < '],
  [/ < /g, ' <= '],
  [/ >= /g, ' > '],
  [/ AND /g, ' OR '],
  [/ ASC\b/g, ' DESC'],
  [/ DESC\b/g, ' ASC'],
  [/\bmax\(/g, 'min('],
  [/\bEXISTS \(/g, 'NOT EXISTS ('],
]

/** All possible mutations of the source files of a folder, except test files. */
export function mutantsOf(root: string, folder: string): DrawnMutant[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .flatMap((name) => mutantsOfFile(root, `${folder}/${name}`))
}

function mutantsOfFile(root: string, file: string): DrawnMutant[] {
  const text = readFileSync(join(root, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found: DrawnMutant[] = []
  const add = (start: number, end: number, to: string): void => {
    const line = source.getLineAndCharacterOfPosition(start).line + 1
    found.push({ file, line, start, end, from: text.slice(start, end), to })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isInterfaceDeclaration(node)) return
    if (ts.isThrowStatement(node)) return
    for (const [start, end, to] of changesOf(node, source)) add(start, end, to)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function changesOf(node: ts.Node, source: ts.SourceFile): [start: number, end: number, to: string][] {
  const start = node.getStart(source)
  if (ts.isBinaryExpression(node)) {
    const to = operators.get(node.operatorToken.kind)
    const { operatorToken: token } = node
    return to === undefined ? [] : [[token.getStart(source), token.getEnd(), to]]
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [[start, node.operand.getStart(source), '']]
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [[start, node.getEnd(), 'false']]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [[start, node.getEnd(), 'true']]
  if (ts.isNumericLiteral(node)) return [[start, node.getEnd(), `(${node.text} + 1)`]]
  if (ts.isConditionalExpression(node)) {
    const [whenTrue, whenFalse] = [node.whenTrue.getText(source), node.whenFalse.getText(source)]
    return [[node.whenTrue.getStart(source), node.getEnd(), `${whenFalse} : ${whenTrue}`]]
  }
  if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression))
    return [[start, node.getEnd(), ';']]
  if (ts.isTemplateLiteralToken(node)) return sqlChanges(node.getText(source), start)
  return []
}

function sqlChanges(text: string, offset: number): [start: number, end: number, to: string][] {
  return sqlWords.flatMap(([word, to]) =>
    [...text.matchAll(word)].map((match): [number, number, string] => {
      const start = offset + match.index
      return [start, start + match[0].length, to]
    }),
  )
}
