// SPDX-License-Identifier: Apache-2.0
#include "core/base/word_form.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/utf8.h"

namespace asr {
namespace {

// The canonical decompositions of letters and marks (UnicodeData.txt, field 5), sorted: the character, what it begins with, and
// the mark that follows, or kNone. Ideographs that are there for compatibility with other encodings are left out.
constexpr char16_t kComposites[] =
    u"ÀA\u0300ÁA\u0301ÂA\u0302ÃA\u0303ÄA\u0308ÅA\u030aÇC\u0327ÈE\u0300ÉE\u0301ÊE\u0302ËE\u0308ÌI\u0300"
    u"ÍI\u0301ÎI\u0302ÏI\u0308ÑN\u0303ÒO\u0300ÓO\u0301ÔO\u0302ÕO\u0303ÖO\u0308ÙU\u0300ÚU\u0301ÛU\u0302"
    u"ÜU\u0308ÝY\u0301àa\u0300áa\u0301âa\u0302ãa\u0303äa\u0308åa\u030açc\u0327èe\u0300ée\u0301êe\u0302"
    u"ëe\u0308ìi\u0300íi\u0301îi\u0302ïi\u0308ñn\u0303òo\u0300óo\u0301ôo\u0302õo\u0303öo\u0308ùu\u0300"
    u"úu\u0301ûu\u0302üu\u0308ýy\u0301ÿy\u0308ĀA\u0304āa\u0304ĂA\u0306ăa\u0306ĄA\u0328ąa\u0328ĆC\u0301"
    u"ćc\u0301ĈC\u0302ĉc\u0302ĊC\u0307ċc\u0307ČC\u030cčc\u030cĎD\u030cďd\u030cĒE\u0304ēe\u0304ĔE\u0306"
    u"ĕe\u0306ĖE\u0307ėe\u0307ĘE\u0328ęe\u0328ĚE\u030cěe\u030cĜG\u0302ĝg\u0302ĞG\u0306ğg\u0306ĠG\u0307"
    u"ġg\u0307ĢG\u0327ģg\u0327ĤH\u0302ĥh\u0302ĨI\u0303ĩi\u0303ĪI\u0304īi\u0304ĬI\u0306ĭi\u0306ĮI\u0328"
    u"įi\u0328İI\u0307ĴJ\u0302ĵj\u0302ĶK\u0327ķk\u0327ĹL\u0301ĺl\u0301ĻL\u0327ļl\u0327ĽL\u030cľl\u030c"
    u"ŃN\u0301ńn\u0301ŅN\u0327ņn\u0327ŇN\u030cňn\u030cŌO\u0304ōo\u0304ŎO\u0306ŏo\u0306ŐO\u030bőo\u030b"
    u"ŔR\u0301ŕr\u0301ŖR\u0327ŗr\u0327ŘR\u030cřr\u030cŚS\u0301śs\u0301ŜS\u0302ŝs\u0302ŞS\u0327şs\u0327"
    u"ŠS\u030cšs\u030cŢT\u0327ţt\u0327ŤT\u030cťt\u030cŨU\u0303ũu\u0303ŪU\u0304ūu\u0304ŬU\u0306ŭu\u0306"
    u"ŮU\u030aůu\u030aŰU\u030bűu\u030bŲU\u0328ųu\u0328ŴW\u0302ŵw\u0302ŶY\u0302ŷy\u0302ŸY\u0308ŹZ\u0301"
    u"źz\u0301ŻZ\u0307żz\u0307ŽZ\u030cžz\u030cƠO\u031bơo\u031bƯU\u031bưu\u031bǍA\u030cǎa\u030cǏI\u030c"
    u"ǐi\u030cǑO\u030cǒo\u030cǓU\u030cǔu\u030cǕÜ\u0304ǖü\u0304ǗÜ\u0301ǘü\u0301ǙÜ\u030cǚü\u030c"
    u"ǛÜ\u0300ǜü\u0300ǞÄ\u0304ǟä\u0304ǠȦ\u0304ǡȧ\u0304ǢÆ\u0304ǣæ\u0304ǦG\u030cǧg\u030cǨK\u030c"
    u"ǩk\u030cǪO\u0328ǫo\u0328ǬǪ\u0304ǭǫ\u0304ǮƷ\u030cǯʒ\u030cǰj\u030cǴG\u0301ǵg\u0301ǸN\u0300"
    u"ǹn\u0300ǺÅ\u0301ǻå\u0301ǼÆ\u0301ǽæ\u0301ǾØ\u0301ǿø\u0301ȀA\u030fȁa\u030fȂA\u0311ȃa\u0311"
    u"ȄE\u030fȅe\u030fȆE\u0311ȇe\u0311ȈI\u030fȉi\u030fȊI\u0311ȋi\u0311ȌO\u030fȍo\u030fȎO\u0311ȏo\u0311"
    u"ȐR\u030fȑr\u030fȒR\u0311ȓr\u0311ȔU\u030fȕu\u030fȖU\u0311ȗu\u0311ȘS\u0326șs\u0326ȚT\u0326țt\u0326"
    u"ȞH\u030cȟh\u030cȦA\u0307ȧa\u0307ȨE\u0327ȩe\u0327ȪÖ\u0304ȫö\u0304ȬÕ\u0304ȭõ\u0304ȮO\u0307"
    u"ȯo\u0307ȰȮ\u0304ȱȯ\u0304ȲY\u0304ȳy\u0304\u0340\u0300\u0001\u0341\u0301\u0001\u0343\u0313\u0001"
    u"\u0344\u0308\u0301ʹ\u02b9\u0001ΆΑ\u0301ΈΕ\u0301ΉΗ\u0301ΊΙ\u0301ΌΟ\u0301ΎΥ\u0301ΏΩ\u0301"
    u"ΐϊ\u0301ΪΙ\u0308ΫΥ\u0308άα\u0301έε\u0301ήη\u0301ίι\u0301ΰϋ\u0301ϊι\u0308ϋυ\u0308"
    u"όο\u0301ύυ\u0301ώω\u0301ϓϒ\u0301ϔϒ\u0308ЀЕ\u0300ЁЕ\u0308ЃГ\u0301ЇІ\u0308ЌК\u0301"
    u"ЍИ\u0300ЎУ\u0306ЙИ\u0306йи\u0306ѐе\u0300ёе\u0308ѓг\u0301їі\u0308ќк\u0301ѝи\u0300"
    u"ўу\u0306ѶѴ\u030fѷѵ\u030fӁЖ\u0306ӂж\u0306ӐА\u0306ӑа\u0306ӒА\u0308ӓа\u0308ӖЕ\u0306"
    u"ӗе\u0306ӚӘ\u0308ӛә\u0308ӜЖ\u0308ӝж\u0308ӞЗ\u0308ӟз\u0308ӢИ\u0304ӣи\u0304ӤИ\u0308"
    u"ӥи\u0308ӦО\u0308ӧо\u0308ӪӨ\u0308ӫө\u0308ӬЭ\u0308ӭэ\u0308ӮУ\u0304ӯу\u0304ӰУ\u0308"
    u"ӱу\u0308ӲУ\u030bӳу\u030bӴЧ\u0308ӵч\u0308ӸЫ\u0308ӹы\u0308\u0622\u0627\u0653\u0623\u0627\u0654"
    u"\u0624\u0648\u0654\u0625\u0627\u0655\u0626\u064a\u0654\u06c0\u06d5\u0654\u06c2\u06c1\u0654\u06d3\u06d2\u0654"
    u"\u0929\u0928\u093c\u0931\u0930\u093c\u0934\u0933\u093c\u0958\u0915\u093c\u0959\u0916\u093c\u095a\u0917\u093c"
    u"\u095b\u091c\u093c\u095c\u0921\u093c\u095d\u0922\u093c\u095e\u092b\u093c\u095f\u092f\u093c\u09cb\u09c7\u09be"
    u"\u09cc\u09c7\u09d7\u09dc\u09a1\u09bc\u09dd\u09a2\u09bc\u09df\u09af\u09bc\u0a33\u0a32\u0a3c\u0a36\u0a38\u0a3c"
    u"\u0a59\u0a16\u0a3c\u0a5a\u0a17\u0a3c\u0a5b\u0a1c\u0a3c\u0a5e\u0a2b\u0a3c\u0b48\u0b47\u0b56\u0b4b\u0b47\u0b3e"
    u"\u0b4c\u0b47\u0b57\u0b5c\u0b21\u0b3c\u0b5d\u0b22\u0b3c\u0b94\u0b92\u0bd7\u0bca\u0bc6\u0bbe\u0bcb\u0bc7\u0bbe"
    u"\u0bcc\u0bc6\u0bd7\u0c48\u0c46\u0c56\u0cc0\u0cbf\u0cd5\u0cc7\u0cc6\u0cd5\u0cc8\u0cc6\u0cd6\u0cca\u0cc6\u0cc2"
    u"\u0ccb\u0cca\u0cd5\u0d4a\u0d46\u0d3e\u0d4b\u0d47\u0d3e\u0d4c\u0d46\u0d57\u0dda\u0dd9\u0dca\u0ddc\u0dd9\u0dcf"
    u"\u0ddd\u0ddc\u0dca\u0dde\u0dd9\u0ddf\u0f43\u0f42\u0fb7\u0f4d\u0f4c\u0fb7\u0f52\u0f51\u0fb7\u0f57\u0f56\u0fb7"
    u"\u0f5c\u0f5b\u0fb7\u0f69\u0f40\u0fb5\u0f73\u0f71\u0f72\u0f75\u0f71\u0f74\u0f76\u0fb2\u0f80\u0f78\u0fb3\u0f80"
    u"\u0f81\u0f71\u0f80\u0f93\u0f92\u0fb7\u0f9d\u0f9c\u0fb7\u0fa2\u0fa1\u0fb7\u0fa7\u0fa6\u0fb7\u0fac\u0fab\u0fb7"
    u"\u0fb9\u0f90\u0fb5\u1026\u1025\u102e\u1b06\u1b05\u1b35\u1b08\u1b07\u1b35\u1b0a\u1b09\u1b35\u1b0c\u1b0b\u1b35"
    u"\u1b0e\u1b0d\u1b35\u1b12\u1b11\u1b35\u1b3b\u1b3a\u1b35\u1b3d\u1b3c\u1b35\u1b40\u1b3e\u1b35\u1b41\u1b3f\u1b35"
    u"\u1b43\u1b42\u1b35ḀA\u0325ḁa\u0325ḂB\u0307ḃb\u0307ḄB\u0323ḅb\u0323ḆB\u0331ḇb\u0331"
    u"ḈÇ\u0301ḉç\u0301ḊD\u0307ḋd\u0307ḌD\u0323ḍd\u0323ḎD\u0331ḏd\u0331ḐD\u0327ḑd\u0327"
    u"ḒD\u032dḓd\u032dḔĒ\u0300ḕē\u0300ḖĒ\u0301ḗē\u0301ḘE\u032dḙe\u032dḚE\u0330ḛe\u0330"
    u"ḜȨ\u0306ḝȩ\u0306ḞF\u0307ḟf\u0307ḠG\u0304ḡg\u0304ḢH\u0307ḣh\u0307ḤH\u0323ḥh\u0323"
    u"ḦH\u0308ḧh\u0308ḨH\u0327ḩh\u0327ḪH\u032eḫh\u032eḬI\u0330ḭi\u0330ḮÏ\u0301ḯï\u0301"
    u"ḰK\u0301ḱk\u0301ḲK\u0323ḳk\u0323ḴK\u0331ḵk\u0331ḶL\u0323ḷl\u0323ḸḶ\u0304ḹḷ\u0304"
    u"ḺL\u0331ḻl\u0331ḼL\u032dḽl\u032dḾM\u0301ḿm\u0301ṀM\u0307ṁm\u0307ṂM\u0323ṃm\u0323"
    u"ṄN\u0307ṅn\u0307ṆN\u0323ṇn\u0323ṈN\u0331ṉn\u0331ṊN\u032dṋn\u032dṌÕ\u0301ṍõ\u0301"
    u"ṎÕ\u0308ṏõ\u0308ṐŌ\u0300ṑō\u0300ṒŌ\u0301ṓō\u0301ṔP\u0301ṕp\u0301ṖP\u0307ṗp\u0307"
    u"ṘR\u0307ṙr\u0307ṚR\u0323ṛr\u0323ṜṚ\u0304ṝṛ\u0304ṞR\u0331ṟr\u0331ṠS\u0307ṡs\u0307"
    u"ṢS\u0323ṣs\u0323ṤŚ\u0307ṥś\u0307ṦŠ\u0307ṧš\u0307ṨṢ\u0307ṩṣ\u0307ṪT\u0307ṫt\u0307"
    u"ṬT\u0323ṭt\u0323ṮT\u0331ṯt\u0331ṰT\u032dṱt\u032dṲU\u0324ṳu\u0324ṴU\u0330ṵu\u0330"
    u"ṶU\u032dṷu\u032dṸŨ\u0301ṹũ\u0301ṺŪ\u0308ṻū\u0308ṼV\u0303ṽv\u0303ṾV\u0323ṿv\u0323"
    u"ẀW\u0300ẁw\u0300ẂW\u0301ẃw\u0301ẄW\u0308ẅw\u0308ẆW\u0307ẇw\u0307ẈW\u0323ẉw\u0323"
    u"ẊX\u0307ẋx\u0307ẌX\u0308ẍx\u0308ẎY\u0307ẏy\u0307ẐZ\u0302ẑz\u0302ẒZ\u0323ẓz\u0323"
    u"ẔZ\u0331ẕz\u0331ẖh\u0331ẗt\u0308ẘw\u030aẙy\u030aẛſ\u0307ẠA\u0323ạa\u0323ẢA\u0309"
    u"ảa\u0309ẤÂ\u0301ấâ\u0301ẦÂ\u0300ầâ\u0300ẨÂ\u0309ẩâ\u0309ẪÂ\u0303ẫâ\u0303"
    u"ẬẠ\u0302ậạ\u0302ẮĂ\u0301ắă\u0301ẰĂ\u0300ằă\u0300ẲĂ\u0309ẳă\u0309ẴĂ\u0303"
    u"ẵă\u0303ẶẠ\u0306ặạ\u0306ẸE\u0323ẹe\u0323ẺE\u0309ẻe\u0309ẼE\u0303ẽe\u0303ẾÊ\u0301"
    u"ếê\u0301ỀÊ\u0300ềê\u0300ỂÊ\u0309ểê\u0309ỄÊ\u0303ễê\u0303ỆẸ\u0302ệẹ\u0302"
    u"ỈI\u0309ỉi\u0309ỊI\u0323ịi\u0323ỌO\u0323ọo\u0323ỎO\u0309ỏo\u0309ỐÔ\u0301ốô\u0301"
    u"ỒÔ\u0300ồô\u0300ỔÔ\u0309ổô\u0309ỖÔ\u0303ỗô\u0303ỘỌ\u0302ộọ\u0302ỚƠ\u0301"
    u"ớơ\u0301ỜƠ\u0300ờơ\u0300ỞƠ\u0309ởơ\u0309ỠƠ\u0303ỡơ\u0303ỢƠ\u0323ợơ\u0323"
    u"ỤU\u0323ụu\u0323ỦU\u0309ủu\u0309ỨƯ\u0301ứư\u0301ỪƯ\u0300ừư\u0300ỬƯ\u0309ửư\u0309"
    u"ỮƯ\u0303ữư\u0303ỰƯ\u0323ựư\u0323ỲY\u0300ỳy\u0300ỴY\u0323ỵy\u0323ỶY\u0309ỷy\u0309"
    u"ỸY\u0303ỹy\u0303ἀα\u0313ἁα\u0314ἂἀ\u0300ἃἁ\u0300ἄἀ\u0301ἅἁ\u0301ἆἀ\u0342"
    u"ἇἁ\u0342ἈΑ\u0313ἉΑ\u0314ἊἈ\u0300ἋἉ\u0300ἌἈ\u0301ἍἉ\u0301ἎἈ\u0342ἏἉ\u0342"
    u"ἐε\u0313ἑε\u0314ἒἐ\u0300ἓἑ\u0300ἔἐ\u0301ἕἑ\u0301ἘΕ\u0313ἙΕ\u0314ἚἘ\u0300"
    u"ἛἙ\u0300ἜἘ\u0301ἝἙ\u0301ἠη\u0313ἡη\u0314ἢἠ\u0300ἣἡ\u0300ἤἠ\u0301ἥἡ\u0301"
    u"ἦἠ\u0342ἧἡ\u0342ἨΗ\u0313ἩΗ\u0314ἪἨ\u0300ἫἩ\u0300ἬἨ\u0301ἭἩ\u0301ἮἨ\u0342"
    u"ἯἩ\u0342ἰι\u0313ἱι\u0314ἲἰ\u0300ἳἱ\u0300ἴἰ\u0301ἵἱ\u0301ἶἰ\u0342ἷἱ\u0342"
    u"ἸΙ\u0313ἹΙ\u0314ἺἸ\u0300ἻἹ\u0300ἼἸ\u0301ἽἹ\u0301ἾἸ\u0342ἿἹ\u0342ὀο\u0313"
    u"ὁο\u0314ὂὀ\u0300ὃὁ\u0300ὄὀ\u0301ὅὁ\u0301ὈΟ\u0313ὉΟ\u0314ὊὈ\u0300ὋὉ\u0300"
    u"ὌὈ\u0301ὍὉ\u0301ὐυ\u0313ὑυ\u0314ὒὐ\u0300ὓὑ\u0300ὔὐ\u0301ὕὑ\u0301ὖὐ\u0342"
    u"ὗὑ\u0342ὙΥ\u0314ὛὙ\u0300ὝὙ\u0301ὟὙ\u0342ὠω\u0313ὡω\u0314ὢὠ\u0300ὣὡ\u0300"
    u"ὤὠ\u0301ὥὡ\u0301ὦὠ\u0342ὧὡ\u0342ὨΩ\u0313ὩΩ\u0314ὪὨ\u0300ὫὩ\u0300ὬὨ\u0301"
    u"ὭὩ\u0301ὮὨ\u0342ὯὩ\u0342ὰα\u0300άά\u0001ὲε\u0300έέ\u0001ὴη\u0300ήή\u0001"
    u"ὶι\u0300ίί\u0001ὸο\u0300όό\u0001ὺυ\u0300ύύ\u0001ὼω\u0300ώώ\u0001ᾀἀ\u0345"
    u"ᾁἁ\u0345ᾂἂ\u0345ᾃἃ\u0345ᾄἄ\u0345ᾅἅ\u0345ᾆἆ\u0345ᾇἇ\u0345ᾈἈ\u0345ᾉἉ\u0345"
    u"ᾊἊ\u0345ᾋἋ\u0345ᾌἌ\u0345ᾍἍ\u0345ᾎἎ\u0345ᾏἏ\u0345ᾐἠ\u0345ᾑἡ\u0345ᾒἢ\u0345"
    u"ᾓἣ\u0345ᾔἤ\u0345ᾕἥ\u0345ᾖἦ\u0345ᾗἧ\u0345ᾘἨ\u0345ᾙἩ\u0345ᾚἪ\u0345ᾛἫ\u0345"
    u"ᾜἬ\u0345ᾝἭ\u0345ᾞἮ\u0345ᾟἯ\u0345ᾠὠ\u0345ᾡὡ\u0345ᾢὢ\u0345ᾣὣ\u0345ᾤὤ\u0345"
    u"ᾥὥ\u0345ᾦὦ\u0345ᾧὧ\u0345ᾨὨ\u0345ᾩὩ\u0345ᾪὪ\u0345ᾫὫ\u0345ᾬὬ\u0345ᾭὭ\u0345"
    u"ᾮὮ\u0345ᾯὯ\u0345ᾰα\u0306ᾱα\u0304ᾲὰ\u0345ᾳα\u0345ᾴά\u0345ᾶα\u0342ᾷᾶ\u0345"
    u"ᾸΑ\u0306ᾹΑ\u0304ᾺΑ\u0300ΆΆ\u0001ᾼΑ\u0345ιι\u0001ῂὴ\u0345ῃη\u0345ῄή\u0345"
    u"ῆη\u0342ῇῆ\u0345ῈΕ\u0300ΈΈ\u0001ῊΗ\u0300ΉΉ\u0001ῌΗ\u0345ῐι\u0306ῑι\u0304"
    u"ῒϊ\u0300ΐΐ\u0001ῖι\u0342ῗϊ\u0342ῘΙ\u0306ῙΙ\u0304ῚΙ\u0300ΊΊ\u0001ῠυ\u0306"
    u"ῡυ\u0304ῢϋ\u0300ΰΰ\u0001ῤρ\u0313ῥρ\u0314ῦυ\u0342ῧϋ\u0342ῨΥ\u0306ῩΥ\u0304"
    u"ῪΥ\u0300ΎΎ\u0001ῬΡ\u0314ῲὼ\u0345ῳω\u0345ῴώ\u0345ῶω\u0342ῷῶ\u0345ῸΟ\u0300"
    u"ΌΌ\u0001ῺΩ\u0300ΏΏ\u0001ῼΩ\u0345\u2126Ω\u0001\u212aK\u0001\u212bÅ\u0001がか\u3099"
    u"ぎき\u3099ぐく\u3099げけ\u3099ごこ\u3099ざさ\u3099じし\u3099ずす\u3099ぜせ\u3099ぞそ\u3099"
    u"だた\u3099ぢち\u3099づつ\u3099でて\u3099どと\u3099ばは\u3099ぱは\u309aびひ\u3099ぴひ\u309a"
    u"ぶふ\u3099ぷふ\u309aべへ\u3099ぺへ\u309aぼほ\u3099ぽほ\u309aゔう\u3099ゞゝ\u3099ガカ\u3099"
    u"ギキ\u3099グク\u3099ゲケ\u3099ゴコ\u3099ザサ\u3099ジシ\u3099ズス\u3099ゼセ\u3099ゾソ\u3099"
    u"ダタ\u3099ヂチ\u3099ヅツ\u3099デテ\u3099ドト\u3099バハ\u3099パハ\u309aビヒ\u3099ピヒ\u309a"
    u"ブフ\u3099プフ\u309aベヘ\u3099ペヘ\u309aボホ\u3099ポホ\u309aヴウ\u3099ヷワ\u3099ヸヰ\u3099"
    u"ヹヱ\u3099ヺヲ\u3099ヾヽ\u3099\ufb1d\u05d9\u05b4\ufb1f\u05f2\u05b7\ufb2a\u05e9\u05c1\ufb2b\u05e9\u05c2"
    u"\ufb2c\ufb49\u05c1\ufb2d\ufb49\u05c2\ufb2e\u05d0\u05b7\ufb2f\u05d0\u05b8\ufb30\u05d0\u05bc\ufb31\u05d1\u05bc"
    u"\ufb32\u05d2\u05bc\ufb33\u05d3\u05bc\ufb34\u05d4\u05bc\ufb35\u05d5\u05bc\ufb36\u05d6\u05bc\ufb38\u05d8\u05bc"
    u"\ufb39\u05d9\u05bc\ufb3a\u05da\u05bc\ufb3b\u05db\u05bc\ufb3c\u05dc\u05bc\ufb3e\u05de\u05bc\ufb40\u05e0\u05bc"
    u"\ufb41\u05e1\u05bc\ufb43\u05e3\u05bc\ufb44\u05e4\u05bc\ufb46\u05e6\u05bc\ufb47\u05e7\u05bc\ufb48\u05e8\u05bc"
    u"\ufb49\u05e9\u05bc\ufb4a\u05ea\u05bc\ufb4b\u05d5\u05b9\ufb4c\u05d1\u05bf\ufb4d\u05db\u05bf\ufb4e\u05e4\u05bf";
constexpr size_t kNumComposites = sizeof(kComposites) / sizeof(char16_t) / 3;
constexpr char16_t kNone = 1;

// Capitals of a range: each of them, or every second one, and the distance to their small letters.
struct Capitals {
  uint32_t first, last, step;
  int32_t distance;
};
constexpr Capitals kCapitals[] = {
    {0x41, 0x5a, 1, 32},         {0x246, 0x24e, 2, 1},       {0x391, 0x3a1, 1, 32},      {0x3a3, 0x3a9, 1, 32},
    {0x3d8, 0x3ee, 2, 1},        {0x3fd, 0x3ff, 1, -130},    {0x408, 0x40b, 1, 80},      {0x410, 0x418, 1, 32},
    {0x41a, 0x42f, 1, 32},       {0x460, 0x474, 2, 1},       {0x478, 0x480, 2, 1},       {0x48a, 0x4be, 2, 1},
    {0x4c3, 0x4cd, 2, 1},        {0x4fa, 0x52e, 2, 1},       {0x531, 0x556, 1, 48},      {0x10a0, 0x10c5, 1, 7264},
    {0x13f8, 0x13fd, 1, -8},     {0x1c90, 0x1cba, 1, -3008}, {0x1cbd, 0x1cbf, 1, -3008}, {0x1efa, 0x1efe, 2, 1},
    {0x2160, 0x216f, 1, 16},     {0x24b6, 0x24cf, 1, 26},    {0x2c00, 0x2c2f, 1, 48},    {0x2c67, 0x2c6b, 2, 1},
    {0x2c80, 0x2ce2, 2, 1},      {0xa640, 0xa66c, 2, 1},     {0xa680, 0xa69a, 2, 1},     {0xa722, 0xa72e, 2, 1},
    {0xa732, 0xa76e, 2, 1},      {0xa77e, 0xa786, 2, 1},     {0xa796, 0xa7a8, 2, 1},     {0xa7b4, 0xa7c2, 2, 1},
    {0xab70, 0xabbf, 1, -38864}, {0xff21, 0xff3a, 1, 32},    {0x10400, 0x10427, 1, 40},  {0x104b0, 0x104d3, 1, 40},
    {0x10570, 0x1057a, 1, 39},   {0x1057c, 0x1058a, 1, 39},  {0x1058c, 0x10592, 1, 39},  {0x10594, 0x10595, 1, 39},
    {0x10c80, 0x10cb2, 1, 64},   {0x118a0, 0x118bf, 1, 32},  {0x16e40, 0x16e5f, 1, 32},  {0x1e900, 0x1e921, 1, 34}};
// Capitals that are in no range, sorted, each with its small letter. A sigma that ends a word is one, too.
constexpr char16_t kOtherCapitals[] =
    u"\u00b5μÆæÐðØøÞþĐđĦħĲĳĿŀŁłŊŋŒœŦŧſsƁɓƂƃƄƅƆɔƇƈƉɖƊɗƋƌƎǝƏəƐɛƑƒ"
    u"ƓɠƔɣƖɩƗɨƘƙƜɯƝɲƟɵƢƣƤƥƦʀƧƨƩʃƬƭƮʈƱʊƲʋƳƴƵƶƷʒƸƹƼƽǄǆǅǆǇǉǈǉǊǌ"
    u"ǋǌǤǥǱǳǲǳǶƕǷƿȜȝȠƞȢȣȤȥȺⱥȻȼȽƚȾⱦɁɂɃƀɄʉɅʌͰͱͲͳͶͷͿϳςσϏϗϐβϑθ"
    u"ϕφϖπϰκϱρϴθϵεϷϸϹϲϺϻЂђЄєЅѕІіЏџӀӏӔӕӘәӠӡӨөӶӷ\u10c7\u2d27\u10cd\u2d2d"
    u"ᲀвᲁдᲂоᲃсᲄтᲅтᲆъᲇѣᲈꙋẞß\u2132\u214e\u2183ↄⱠⱡⱢɫⱣᵽⱤɽⱭɑⱮɱ"
    u"ⱯɐⱰɒⱲⱳⱵⱶⱾȿⱿɀ\u2ceb\u2cec\u2ced\u2cee\u2cf2\u2cf3ꝹꝺꝻꝼꝽᵹꞋꞌꞍɥꞐꞑ"
    u"ꞒꞓꞪɦꞫɜꞬɡꞭɬꞮɪꞰʞꞱʇꞲʝꞳꭓꟄꞔꟅʂꟆᶎꟇꟈꟉꟊꟐꟑꟖꟗꟘꟙꟵꟶ";
constexpr size_t kNumOtherCapitals = sizeof(kOtherCapitals) / sizeof(char16_t) / 2;

// Returns the place of a code in the first of `width` columns of a sorted table, or nullptr.
const char16_t *find(const char16_t *table, size_t n_rows, size_t width, uint32_t code) {
  size_t begin = 0, end = n_rows;
  while (begin < end) {
    const size_t middle = (begin + end) / 2;
    if (table[middle * width] < code) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  const bool is_found = begin < n_rows && table[begin * width] == code;
  return is_found ? table + begin * width : nullptr;
}

// Marks that may follow a letter in any order: accents, and the points of Hebrew and Arabic.
bool is_mark(uint32_t code) {
  return (code >= 0x300 && code < 0x370) || (code >= 0x591 && code < 0x5c8) || (code >= 0x64b && code < 0x656);
}

void take_apart(uint32_t code, std::u32string *parts) {
  if (code >= 0xac00 && code < 0xd7a4) {  // a syllable of Hangul (Unicode, section 3.12)
    const uint32_t n = code - 0xac00;
    parts->push_back(0x1100 + n / 588);
    parts->push_back(0x1161 + n % 588 / 28);
    if (n % 28 > 0) parts->push_back(0x11a7 + n % 28);
    return;
  }
  const char16_t *const row = code < 0xc0 ? nullptr : find(kComposites, kNumComposites, 3, code);
  if (row == nullptr) {
    parts->push_back(code);
    return;
  }
  take_apart(row[1], parts);
  if (row[2] != kNone) take_apart(row[2], parts);
}

uint32_t small_letter(uint32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  const auto *const range =
      std::find_if(std::begin(kCapitals), std::end(kCapitals), [&](const auto &r) { return code <= r.last; });
  if (range != std::end(kCapitals) && code >= range->first && (code - range->first) % range->step == 0)
    return code + static_cast<uint32_t>(range->distance);
  const char16_t *const row = find(kOtherCapitals, kNumOtherCapitals, 2, code);
  return row != nullptr ? row[1] : code;
}

void append(uint32_t code, std::string *text) {
  const auto add = [&](uint32_t byte) { *text += static_cast<char>(byte); };
  const auto add_rest = [&](uint32_t shift) { add(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6), add_rest(0);
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12), add_rest(6), add_rest(0);
  } else {
    add(0xf0 | code >> 18), add_rest(12), add_rest(6), add_rest(0);
  }
}

}  // namespace

std::string without_composites(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  std::u32string parts;  // since the last byte that is none of a character
  const auto put_parts = [&] {
    for (auto begin = parts.begin(); begin != parts.end();) {
      const auto end = std::find_if_not(begin, parts.end(), is_mark);
      std::sort(begin, end);
      begin = end == parts.end() ? end : end + 1;
    }
    for (const uint32_t code : parts) append(code, &result);
    parts.clear();
  };
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (character.is_valid) {
      take_apart(character.code, &parts);
    } else {
      put_parts();
      result += text[0];
    }
    text.remove_prefix(character.size);
  }
  put_parts();
  return result;
}

std::string without_case(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (character.is_valid) {
      append(small_letter(character.code), &result);
    } else {
      result += text[0];
    }
    text.remove_prefix(character.size);
  }
  return result;
}

}  // namespace asr
