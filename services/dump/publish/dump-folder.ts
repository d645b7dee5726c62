import { createHash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { FatalError, PronghornError } from '../../core/errors/index.ts'
import { packContent, packedSuffix } from '../format/compression.ts'
import { formatManifest, MANIFEST, parseManifest, signatureName } from '../format/manifest.ts'
import type { Manifest, ManifestFile } from '../format/manifest.ts'
import { signManifest } from '../format/signature.ts'
import type { Content } from './content-cutter.ts'

/** Suffix of a file that is being written. */
const PARTIAL = '.partial'
/** Number of hexadecimal digits of the content's SHA-256 in a file name. */
const NAME_DIGITS = 32
/** Paths that a publication writes. The folder may contain other files, which are never removed. */
const ourPaths = new RegExp(
  String.raw`^(?:manifest\.json|files/[^/]+/[0-9a-f]{${NAME_DIGITS}}\.copy\.\w+|signatures/[0-9a-f]{64}\.sig)(?:\.\d+-\d+\.partial)?$`,
)

/** Number of files and bytes that a publication has written. */
export interface Written {
  files: number
  bytes: number
}

/**
 * The folder of a dump. Files are named after the hash of their content and never change. The manifest is replaced
 * last, so that a reader of the folder sees either the former publication or the new one.
 */
export class DumpFolder {
  readonly #path: string
  /** Manifest of the former publication. */
  readonly former: Manifest | undefined
  readonly written: Written = { files: 0, bytes: 0 }
  readonly #formerSignature: string | undefined
  readonly #byContent: ReadonlyMap<string, ManifestFile>
  readonly #isChecked: boolean
  #partial = 0

  private constructor(path: string, manifest: Buffer | undefined, isChecked: boolean) {
    this.#path = path
    this.#isChecked = isChecked
    const former = manifest && parseFormer(path, manifest)
    this.former = former
    this.#formerSignature = manifest && signatureName(digestOf(manifest))
    this.#byContent = new Map(
      (former?.tables ?? []).flatMap(({ name, files }) =>
        files.map((file) => [`${name} ${file.content_sha256}`, file] as const),
      ),
    )
  }

  /**
   * Opens or creates the folder of a dump.
   *
   * @param isChecked whether files of sealed rows of the former publication are read to find damaged ones.
   * @throws FatalError `PUBLISH_FAILED`.
   */
  static open(path: string, isChecked: boolean): Promise<DumpFolder> {
    return asPublishError(path, async () => {
      await mkdir(path, { recursive: true })
      const bytes = await readFile(join(path, MANIFEST)).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      })
      const folder = new DumpFolder(path, bytes, isChecked)
      for (const file of await folder.#list())
        if (file.endsWith(PARTIAL)) await rm(join(path, file), { force: true })
      return folder
    })
  }

  /**
   * Whether a file of the former publication exists with the size and, if the file is read, the SHA-256 of the manifest.
   */
  async has({ path, bytes, sha256 }: ManifestFile, isRead = this.#isChecked): Promise<boolean> {
    const found = await stat(join(this.#path, path)).catch(() => undefined)
    if (found?.isFile() !== true || found.size !== bytes) return false
    if (!isRead) return true
    const content = await readFile(join(this.#path, path)).catch(() => undefined)
    return content !== undefined && digestOf(content) === sha256
  }

  /** Whether the former publication has a signature. */
  async wasSigned(): Promise<boolean> {
    if (this.#formerSignature === undefined) return false
    const found = await stat(join(this.#path, this.#formerSignature)).catch(() => undefined)
    return found !== undefined
  }

  /** Writes the rows of a file, unless the former publication has a file with the same rows. */
  async put(table: string, { text, rows }: Content): Promise<ManifestFile> {
    const content = digestOf(text)
    const former = this.#byContent.get(`${table} ${content}`)
    if (former !== undefined && (await this.has(former, true))) {
      const { sealed, ...file } = former
      return file
    }
    const packed = await packContent(text)
    const path = `files/${table}/${content.slice(0, NAME_DIGITS)}.copy${packedSuffix}`
    await this.#write(path, packed)
    return {
      path,
      bytes: packed.length,
      sha256: digestOf(packed),
      content_bytes: text.length,
      content_sha256: content,
      rows,
    }
  }

  /** Replaces the manifest. The caller has flushed all files of the manifest to the disk. */
  async publish(manifest: Manifest, key: KeyObject | undefined): Promise<void> {
    const bytes = formatManifest(manifest)
    if (key !== undefined)
      await this.#write(signatureName(digestOf(bytes)), Buffer.from(signManifest(bytes, key)))
    await this.#write(MANIFEST, bytes)
  }

  /** Removes files that are in neither the new nor the former manifest. @returns their number. */
  async prune(manifest: Manifest): Promise<number> {
    const kept = new Set([this.#formerSignature, signatureName(digestOf(formatManifest(manifest)))])
    for (const { tables } of [manifest, ...(this.former === undefined ? [] : [this.former])])
      for (const { files } of tables) for (const { path } of files) kept.add(path)
    return asPublishError(this.#path, async () => {
      const unused = (await this.#list()).filter((file) => file !== MANIFEST && !kept.has(file))
      for (const file of unused) await rm(join(this.#path, file), { force: true })
      return unused.length
    })
  }

  /** Lists the files of this and earlier publications, and the partial files of an interrupted publication. */
  async #list(): Promise<string[]> {
    const entries = await readdir(this.#path, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.#path, join(entry.parentPath, entry.name)))
      .filter((path) => ourPaths.test(path))
  }

  #write(name: string, bytes: Buffer): Promise<void> {
    const path = join(this.#path, name)
    const partial = `${path}.${process.pid}-${++this.#partial}${PARTIAL}`
    return asPublishError(path, async () => {
      await mkdir(dirname(path), { recursive: true })
      try {
        await writeThrough(partial, bytes)
        await rename(partial, path)
        await syncFolder(dirname(path))
      } catch (error) {
        await rm(partial, { force: true }).catch(() => undefined)
        throw error
      }
      this.written.files++
      this.written.bytes += bytes.length
    })
  }
}

/** @throws FatalError `PUBLISH_FAILED` if this version cannot continue the dump in the folder. */
function parseFormer(path: string, bytes: Buffer): Manifest {
  try {
    return parseManifest(bytes)
  } catch (cause) {
    const why = cause instanceof PronghornError ? cause.message : MANIFEST
    throw new FatalError('PUBLISH_FAILED', `${path} cannot take another publication: ${why}`, { cause })
  }
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function writeThrough(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'w', 0o644)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Flushes the directory entries of a folder to the disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function asPublishError<T>(path: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (cause) {
    if (cause instanceof PronghornError) throw cause
    const isFull = ['ENOSPC', 'EDQUOT'].includes((cause as NodeJS.ErrnoException).code ?? '')
    throw new FatalError(
      'PUBLISH_FAILED',
      isFull ? `the disk of ${path} is full` : `${path} cannot be read or written`,
      { cause },
    )
  }
}
